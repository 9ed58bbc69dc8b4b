/*
 * The floor of a no-change preview: a provider that holds everything for as the state says, and looks at nothing.
 * What the engine, the program and two plugin starts cost is measured with it, on a state that the real one made.
 * Plain JavaScript, because the real one runs compiled too.
 */
const { Server, ServerCredentials } = require("@grpc/grpc-js");
const { PluginInfo } = require("@pulumi/pulumi/proto/plugin_pb");
const { ResourceProviderService } = require("@pulumi/pulumi/proto/provider_grpc_pb");
const proto = require("@pulumi/pulumi/proto/provider_pb");
const { Empty } = require("google-protobuf/google/protobuf/empty_pb");
const { Struct } = require("google-protobuf/google/protobuf/struct_pb");

const none = () => new proto.DiffResponse().setChanges(proto.DiffResponse.DiffChanges.DIFF_NONE);
const handlers = {
    handshake: () => new proto.ProviderHandshakeResponse(),
    attach: () => new Empty(),
    getPluginInfo: () => new PluginInfo().setVersion("0.0.0"),
    checkConfig: (request) => new proto.CheckResponse().setInputs(request.getNews()),
    diffConfig: none,
    configure: () => new proto.ConfigureResponse().setSupportspreview(true),
    check: (request) => {
        const inputs = { ...request.getOlds()?.toJavaScript(), ...request.getNews()?.toJavaScript() };
        return new proto.CheckResponse().setInputs(Struct.fromJavaScript(inputs));
    },
    diff: none,
    read: (request) =>
        new proto.ReadResponse()
            .setId(request.getId())
            .setProperties(request.getProperties())
            .setInputs(request.getInputs())
            .setRefreshBeforeUpdate(true),
    invoke: () => new proto.InvokeResponse().setReturn(Struct.fromJavaScript({ hosts: [] })),
    cancel: () => new Empty(),
};

const unary = (handler) => (call, answer) => answer(null, handler(call.request));
const server = new Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
server.addService(
    ResourceProviderService,
    Object.fromEntries(Object.entries(handlers).map(([name, handler]) => [name, unary(handler)])),
);
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
    if (error !== null) {
        throw error;
    }
    process.stdout.write(`${port}\n`);
});
