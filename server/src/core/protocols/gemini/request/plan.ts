/** What the parts of one request body are encoded from. */
import type { CanonicalRequest } from '../../../canonical/request.ts'
import { upstreamToolName } from '../../../canonical/tools/tool-names.ts'
import { isJsonObject, type JsonValue } from '../../../json.ts'
import type { EncodeTarget } from '../../protocol.ts'

export interface Plan {
  readonly request: CanonicalRequest
  readonly target: EncodeTarget
  readonly dropped: Set<string>
  readonly output: OutputPlan
}

/** `told`: the answer's format can only be requested in the prompt. */
export type OutputPlan = 'text' | 'json' | 'schema' | 'told'

export function toolName(
  tool: { readonly name: string; readonly namespace: string | undefined },
  { target }: Plan,
): string {
  return upstreamToolName(tool, target.capabilities.toolNameMax)
}

/** The name of the dialect is no keyword here. */
export function withoutDialect(schema: JsonValue): JsonValue {
  if (!isJsonObject(schema)) return schema
  const { $schema: _dialect, ...rest } = schema
  return rest
}
