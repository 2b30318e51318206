import { quietly } from '../../telemetry/background.ts'
import type { LoggedCall } from '../call.ts'
import type { Pipeline } from '../context.ts'
import type { ClientReply } from '../reply.ts'

/** How long the client waits at most for an end that the store does not take, ms. */
const END_WAIT_MS = 3_000

/**
 * Ends a call of which its client has nothing yet, then tells the client why: whoever asks again at once finds the slot
 * free. The client does not wait for an unreachable store. Rejects as `end` does, when the client has been told.
 */
export async function endThenTell(
  pipeline: Pick<Pipeline, 'telemetry'>,
  call: LoggedCall,
  reply: ClientReply,
  { end, tell }: { readonly end: () => Promise<void>; readonly tell: () => void },
): Promise<void> {
  const tellOnce = (): void => {
    if (reply.started || reply.gone) return
    quietly(pipeline, call, 'tell a failure', tell)
    if (!reply.started) reply.destroy()
  }
  const timer = setTimeout(tellOnce, END_WAIT_MS)
  try {
    await end()
  } finally {
    clearTimeout(timer)
    tellOnce()
  }
}
