import type { ClientReply } from '../../reply.ts'

/** Writes a stream to the client at the client's pace. Stops reading when the client has disconnected. */
export async function sendStream(reply: ClientReply, body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of body) {
    if (reply.gone) return
    if (!reply.write(chunk)) await drained(reply)
  }
  if (!reply.gone) reply.end()
}

function drained(reply: ClientReply): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      reply.onDrain(undefined)
      reply.onGone(undefined)
      resolve()
    }
    reply.onDrain(go)
    reply.onGone(go)
    if (reply.gone) go()
  })
}
