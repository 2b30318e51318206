/** A call like one that was made, to be asked about. */
import type { explainOwn } from '../../api/calls.ts'
import type { paths } from '../../api/generated.d.ts'
import type { LoggedCall } from './log-source.ts'
import { bodyLike, protocolOf } from './same-call.ts'

export type ExplainQuestion =
  paths['/api/v1/admin/explain']['post']['requestBody']['content']['application/json']
export type Explained = Awaited<ReturnType<typeof explainOwn>>

/** undefined: the gateway cannot say what would become of a call like this one. */
export function questionLike(call: LoggedCall): ExplainQuestion | undefined {
  const protocol = protocolOf(call)
  if (protocol === undefined || call.key_id === null) return undefined
  return {
    protocol,
    body: bodyLike(call, protocol),
    key_id: call.key_id,
    ...(protocol === 'gemini'
      ? { model: call.model_requested ?? call.model ?? '', stream: call.stream }
      : {}),
  }
}
