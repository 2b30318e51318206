import { IncomingMessage } from 'node:http'
import type { Address } from './address.ts'
import type { BodyWatch } from './calls/incoming.ts'

/** A request with what the listener knows of it, for routes that the framework calls. */
export class GatewayRequest extends IncomingMessage {
  address: Address = 'base'
  /** undefined: nothing is sent, or nobody has said yet how long it may take. */
  bodyBounds: BodyBounds | undefined
}

export interface BodyBounds {
  readonly watch: BodyWatch
  readonly totalTimeoutMs: number
}

export function addressOf(request: IncomingMessage): Address {
  return request instanceof GatewayRequest ? request.address : 'base'
}

export function boundsOf(request: IncomingMessage): BodyBounds | undefined {
  return request instanceof GatewayRequest ? request.bodyBounds : undefined
}
