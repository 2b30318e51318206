/**
 * A call to an address that a vendor named, under the guard of `fetch-remote.ts`: the name is resolved once, private networks
 * are closed, and no redirect is followed.
 */

import { asError } from '../../core/errors/as-error.ts'
import { openOver } from '../send.ts'
import type { TransportFailure, UpstreamCall, UpstreamExchange, UpstreamSink } from '../upstream.ts'
import {
  type AddressRules,
  type JudgedAddress,
  judgeAddress,
  pinnedLease,
  type RemoteRefusal,
  type RemoteWorld,
  systemWorld,
} from './fetch-remote.ts'

export interface OpenRemoteOptions extends Omit<AddressRules, 'timeoutMs'> {
  /** Told of an address that is not open. */
  readonly onRefused: (reason: RemoteRefusal) => void
}

/** Fails with `connect` where the address is not open, or its name cannot be resolved in the call's time for connections. */
export function openRemote(
  call: UpstreamCall,
  sink: UpstreamSink,
  options: OpenRemoteOptions,
  world: RemoteWorld = systemWorld,
): UpstreamExchange {
  const opening = new Opening(call, sink, options, world)
  const { allow, trustedHost } = options
  const rules = { allow, trustedHost, timeoutMs: call.timeouts.connectMs }
  void judgeAddress(call.request.url, rules, world)
    .then((judged) => opening.judged(judged))
    .catch((error: unknown) => opening.broke(error))
  return opening
}

class Opening implements UpstreamExchange {
  readonly #call: UpstreamCall
  readonly #sink: UpstreamSink
  readonly #options: OpenRemoteOptions
  readonly #world: RemoteWorld
  #exchange: UpstreamExchange | undefined
  #paused = false
  #over = false

  constructor(call: UpstreamCall, sink: UpstreamSink, options: OpenRemoteOptions, world: RemoteWorld) {
    this.#call = call
    this.#sink = sink
    this.#options = options
    this.#world = world
  }

  get sent(): boolean {
    return this.#exchange?.sent ?? false
  }

  pause(): void {
    this.#paused = true
    this.#exchange?.pause()
  }

  resume(): void {
    this.#paused = false
    this.#exchange?.resume()
  }

  abort(): void {
    if (this.#exchange === undefined)
      this.#fail({ kind: 'aborted', sent: false, detail: 'aborted by the gateway' })
    else this.#exchange.abort()
  }

  judged(judged: JudgedAddress): void {
    if (this.#over) return
    if (judged.kind === 'refused') {
      this.#options.onRefused(judged.reason)
      this.#fail({ kind: 'connect', sent: false, detail: judged.detail })
      return
    }
    const { url, pinned } = judged
    const { allow } = this.#options
    const open = openOver({ take: () => pinnedLease(url.origin, pinned, allow) }, this.#world.timers)
    const { request } = this.#call
    const headers = { 'user-agent': 'sluice', ...request.headers }
    this.#exchange = open({ ...this.#call, request: { ...request, url: url.href, headers } }, this.#sink)
    if (this.#paused) this.#exchange.pause()
  }

  broke(error: unknown): void {
    this.#fail({ kind: 'connect', sent: this.sent, detail: asError(error).message })
  }

  #fail(failure: TransportFailure): void {
    if (this.#over) return
    this.#over = true
    this.#sink.fail(failure)
  }
}
