/** Builds a request for an explanation from a call of the log. */
import type { explainOwn } from '../../api/calls.ts'
import type { paths } from '../../api/generated.d.ts'
import { bodyOfOther, otherCallAt } from '../snippets/other-calls.ts'
import type { LoggedCall } from './log-source.ts'
import { bodyLike, protocolOf } from './same-call.ts'

export type ExplainQuestion =
  paths['/api/v1/admin/explain']['post']['requestBody']['content']['application/json']
export type Explained = Awaited<ReturnType<typeof explainOwn>>

/** Endpoints that make no conversation. */
const OTHERS = [
  'embeddings',
  'gemini-embeddings',
  'moderation',
  'rerank',
  'images',
  'speech',
  'transcription',
] as const satisfies readonly ExplainQuestion['protocol'][]

/** undefined: the gateway cannot explain calls of this kind. */
export function questionLike(call: LoggedCall): ExplainQuestion | undefined {
  if (call.key_id === null) return undefined
  const protocol = protocolOf(call)
  if (protocol === undefined) return otherQuestion(call, call.key_id)
  return {
    protocol,
    body: bodyLike(call, protocol),
    key_id: call.key_id,
    ...(protocol === 'gemini' ? { model: modelOf(call), stream: call.stream } : {}),
  }
}

function otherQuestion(call: LoggedCall, key_id: string): ExplainQuestion | undefined {
  const protocol = OTHERS.find((each) => each === call.client_protocol)
  const other = otherCallAt(call.endpoint)
  if (protocol === undefined || other === undefined) return undefined
  const model = modelOf(call)
  return {
    protocol,
    body: bodyOfOther(other, call.endpoint, model),
    key_id,
    ...(protocol === 'gemini-embeddings' ? { model } : { path: call.endpoint }),
    ...(protocol === 'transcription' ? { audio_seconds: call.audio_seconds } : {}),
  }
}

function modelOf({ model_requested: asked, model }: LoggedCall): string {
  return asked ?? model ?? ''
}
