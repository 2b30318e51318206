/** What the parts of one request body are encoded from. */
import type { CanonicalRequest } from '../../../canonical/request.ts'
import { upstreamToolName } from '../../../canonical/tools/tool-names.ts'
import type { EncodeTarget } from '../../protocol.ts'

export interface Plan {
  readonly request: CanonicalRequest
  readonly target: EncodeTarget
  readonly dropped: Set<string>
  /** The model will think: sampling and forced tools are then refused upstream. */
  readonly thinks: boolean
  /** Structured output goes through a tool the model is made to call. */
  readonly jsonTool: boolean
}

export function toolName(
  tool: { readonly name: string; readonly namespace: string | undefined },
  { target }: Plan,
): string {
  return upstreamToolName(tool, target.capabilities.toolNameMax)
}

/** Instruction to answer in JSON, for models that support neither structured output nor a forced tool. */
export function outputInstruction({ request, target, jsonTool }: Plan): string | undefined {
  const { output } = request
  if (output.kind === 'json')
    return 'Answer with one JSON object and nothing else: no words and no code fence around it.'
  if (output.kind !== 'json-schema' || target.capabilities.jsonSchema || jsonTool) return undefined
  return `Answer with one JSON value and nothing else. It must match this JSON Schema: ${JSON.stringify(output.schema)}`
}
