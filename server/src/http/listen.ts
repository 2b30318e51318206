import type { AddressInfo, Server } from 'node:net'

export interface ListenAt {
  readonly port: number
  /** Absent: every address. */
  readonly host?: string | undefined
}

/**
 * Resolves to the port; rejects with the error of a failed `listen`. Afterwards a connection that the system cannot hand over, for example for
 * lack of file descriptors, is reported to `onLost`: the listener goes on, where without one the process would end.
 */
export function listen(
  server: Server,
  { port, host }: ListenAt,
  onLost: (error: Error) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off('error', reject)
      server.on('error', onLost)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

/** Clients try again at once, so that there may be thousands in a second. */
const SAID_EVERY_MS = 10_000

/** Passes on the first of many. */
export function rarely(report: (error: Error) => void, now: () => number): (error: Error) => void {
  let silentUntil = Number.NEGATIVE_INFINITY
  return (error) => {
    const at = now()
    if (at < silentUntil) return
    silentUntil = at + SAID_EVERY_MS
    report(error)
  }
}
