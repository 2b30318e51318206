/** Rebuilds a request like that of a logged call. Its content is not stored, so a short text replaces it. */
import { curlOfOther, curlWith, otherCallAt, pathFor } from '../snippets/other-calls.ts'

/** The fields of a call that describe its request. */
export interface MadeCall {
  readonly client_protocol: string
  readonly endpoint: string
  readonly model: string | null
  readonly model_requested: string | null
  readonly stream: boolean
}

export const PROTOCOLS = ['chat', 'responses', 'messages', 'gemini'] as const
export type Protocol = (typeof PROTOCOLS)[number]

const TEXT = 'Hello'

export function protocolOf({ client_protocol }: Pick<MadeCall, 'client_protocol'>): Protocol | undefined {
  return PROTOCOLS.find((each) => each === client_protocol)
}

export function bodyLike(
  call: Pick<MadeCall, 'model' | 'model_requested' | 'stream'>,
  protocol: Protocol,
): Record<string, unknown> {
  const model = call.model_requested ?? call.model ?? ''
  const stream = call.stream ? { stream: true } : {}
  const messages = [{ role: 'user', content: TEXT }]
  switch (protocol) {
    case 'chat':
      return { model, messages, ...stream }
    case 'responses':
      return { model, input: TEXT, ...stream }
    case 'messages':
      return { model, max_tokens: 1024, messages, ...stream }
    case 'gemini':
      return { contents: [{ role: 'user', parts: [{ text: TEXT }] }] }
  }
}

/** As a curl command with a placeholder for the key; undefined: such a call cannot be rebuilt. */
export function curlOf(call: MadeCall, baseUrl: string): string | undefined {
  const model = call.model_requested ?? call.model ?? ''
  const facts = { baseUrl, secret: '$SLUICE_KEY' }
  const protocol = protocolOf(call)
  if (protocol !== undefined)
    return curlWith(pathFor(call.endpoint, model), JSON.stringify(bodyLike(call, protocol)), facts)
  const other = otherCallAt(call.endpoint)
  return other && curlOfOther(call.endpoint, other, { ...facts, model })
}
