"""`service.check`: what is known beforehand of a wish whose release and variables are on the host. Reads only."""

from agent.gates import report
from agent.gates.beat import Beat
from agent.gates.service import presentable
from agent.gates.static import gate
from agent.service.place import Place
from agent.service.wish import Wish


def check(request):
    """{gates: [{gate, ok, seconds, note, problems, warnings}], table: [line]} of the static gates; takes what `service.activate` takes."""
    wish = Wish(Place(request.layout, request.args["service"]), request.args)
    with Beat(lambda text: request.progress(text, stage="gates")) as beat:
        found = gate.check(wish.candidate(), lambda name: beat.at("gate " + name))
    gates = presentable(found, wish.hidden())
    return {"gates": gates, "table": report.table(gates)}
