import { actingFor, client, dataOf } from '../api/client.ts'
import type { LoggedCall } from '../parts/calls/log-source.ts'
import { bodyLike, protocolOf } from '../parts/calls/same-call.ts'

/** Whether the gateway can say what would become of a call like this one. */
export function isExplained(call: LoggedCall): boolean {
  return protocolOf(call) !== undefined && call.key_id !== null
}

/** What would become of a call like this one now; nothing is sent, nothing is charged. */
export function explainAgain(call: LoggedCall, organisation: string | undefined) {
  const protocol = protocolOf(call) ?? 'chat'
  return dataOf(
    client.POST('/api/v1/user/user/explain', {
      params: { header: actingFor(organisation) },
      body: {
        protocol,
        body: bodyLike(call, protocol),
        ...(call.key_id === null ? {} : { key_id: call.key_id }),
        ...(protocol === 'gemini'
          ? { model: call.model_requested ?? call.model ?? '', stream: call.stream }
          : {}),
      },
    }),
  )
}

export type Explained = Awaited<ReturnType<typeof explainAgain>>
