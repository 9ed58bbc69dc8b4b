"""`service.check`: what is known beforehand of a wish whose release and variables are on the host. Reads only."""

from agent.gates import names, report
from agent.gates.beat import Beat
from agent.gates.service import presentable
from agent.gates.static import gate
from agent.service.place import Place
from agent.service.wish import Wish


def check(request):
    """{gates: [{gate, ok, seconds, note, problems, warnings}], table: [line]} of the static gates, and of names that its sources do not know; takes what `service.activate` takes."""
    wish = Wish(Place(request.layout, request.args["service"]), request.args)
    with Beat(lambda text: request.progress(text, stage="gates")) as beat:
        candidate = wish.candidate()
        found = gate.check(candidate, lambda name: beat.at("gate " + name)) + names.unknown(candidate)
    gates = presentable(found, wish.hidden())
    return {"gates": gates, "table": report.table(gates)}
