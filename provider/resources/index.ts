import type { AnyResource } from "../context";
import { envVars } from "./envVars";
import { packageOverlay } from "./packageOverlay";
import { sglangService } from "./sglangService";
import { sourcePatch } from "./sourcePatch";
import { venv } from "./venv";

const resources = [packageOverlay, sourcePatch, venv, envVars, sglangService] as unknown as AnyResource[];

/** All resources, by token. */
export const table: ReadonlyMap<string, AnyResource> = new Map(resources.map((resource) => [resource.token, resource]));
