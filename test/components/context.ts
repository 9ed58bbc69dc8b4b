import type { FleetContext } from "../../components/config";

/** A project at /project in which every file is there but those named `gone…`, and two secrets. */
export const context: FleetContext = {
    project: "/project",
    secrets: ["hfToken", "sudo"],
    secret: (name) => `secret of ${name}`,
    exists: (path) => !path.includes("gone"),
};
