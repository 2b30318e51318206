/** A call like another one. What was said is not kept, so a short text stands in its place. */
import type { LoggedCall } from './log-source.ts'

export const PROTOCOLS = ['chat', 'responses', 'messages', 'gemini'] as const
export type Protocol = (typeof PROTOCOLS)[number]

const TEXT = 'Hello'

export function protocolOf({ client_protocol }: Pick<LoggedCall, 'client_protocol'>): Protocol | undefined {
  return PROTOCOLS.find((each) => each === client_protocol)
}

export function bodyLike(call: LoggedCall, protocol: Protocol): Record<string, unknown> {
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

/** As a line for the shell; the key is to be put in. */
export function curlOf(call: LoggedCall): string {
  const path = call.endpoint.replace(/^[A-Z]+ /, '')
  const protocol = protocolOf(call)
  const body = protocol === undefined ? { model: call.model_requested } : bodyLike(call, protocol)
  return `curl ${window.location.origin}${path} \\
  -H "Authorization: Bearer $SLUICE_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify(body)}'`
}
