import { type handleUnaryCall, Server, ServerCredentials, type ServiceDefinition } from "@grpc/grpc-js";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as proto from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";

/**
 * The floor of a no-change preview: a provider that holds everything for as the state says, and looks at nothing.
 * What the engine, the program and two plugin starts cost is measured with it, on a state that the real one made.
 */
const handlers = {
    handshake: () => new proto.ProviderHandshakeResponse(),
    attach: () => new Empty(),
    getPluginInfo: () => new PluginInfo().setVersion("0.0.0"),
    checkConfig: (request: proto.CheckRequest) => new proto.CheckResponse().setInputs(request.getNews()),
    diffConfig: () => new proto.DiffResponse().setChanges(proto.DiffResponse.DiffChanges.DIFF_NONE),
    configure: () => new proto.ConfigureResponse().setSupportspreview(true),
    check: (request: proto.CheckRequest) => {
        const inputs = { ...request.getOlds()?.toJavaScript(), ...request.getNews()?.toJavaScript() };
        return new proto.CheckResponse().setInputs(
            Struct.fromJavaScript(inputs as Parameters<typeof Struct.fromJavaScript>[0]),
        );
    },
    diff: () => new proto.DiffResponse().setChanges(proto.DiffResponse.DiffChanges.DIFF_NONE),
    read: (request: proto.ReadRequest) =>
        new proto.ReadResponse()
            .setId(request.getId())
            .setProperties(request.getProperties())
            .setInputs(request.getInputs())
            .setRefreshBeforeUpdate(true),
    invoke: () => new proto.InvokeResponse().setReturn(Struct.fromJavaScript({ hosts: [] })),
    cancel: () => new Empty(),
};

const unary = (handler: (request: never) => unknown): handleUnaryCall<unknown, unknown> => {
    return (call, answer) => answer(null, handler(call.request as never));
};

const server = new Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
server.addService(
    ResourceProviderService as unknown as ServiceDefinition,
    Object.fromEntries(Object.entries(handlers).map(([name, handler]) => [name, unary(handler)])),
);
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
    if (error !== null) {
        throw error;
    }
    process.stdout.write(`${port}\n`);
});
