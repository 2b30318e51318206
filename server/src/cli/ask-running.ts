/** Asks a gateway running on this machine with this environment, over its operator's port. */
import { get } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Config } from '../config/environment.ts'
import { isJsonObject, type JsonObject } from '../core/json.ts'

/** It answers from memory; after a longer silence none is running. */
const TIMEOUT_MS = 2_000

export interface OpsAnswer {
  readonly status: number
  readonly body: JsonObject
}

/** undefined: there is no answer before `signal` aborts. */
export function askRunning(
  { opsHost, opsPort }: Pick<Config, 'opsHost' | 'opsPort'>,
  path: '/chains' | '/readyz',
  signal: AbortSignal = AbortSignal.timeout(TIMEOUT_MS),
): Promise<OpsAnswer | undefined> {
  if (opsPort === 0) return Promise.resolve(undefined)
  const name = opsHost === '0.0.0.0' || opsHost === '::' ? '127.0.0.1' : opsHost
  return new Promise((resolve) => {
    const request = get({ host: name, port: opsPort, path, signal, agent: false }, (response) => {
      const { statusCode: status = 0 } = response
      json(response).then(
        (body: unknown) => resolve(isJsonObject(body) ? { status, body } : undefined),
        // Another program is listening there, not a gateway.
        () => resolve(undefined),
      )
    })
    request.on('error', () => resolve(undefined))
  })
}
