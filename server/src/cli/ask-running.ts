/** What a gateway that runs on this machine, with this environment, says on its port for operators. */
import { get } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Config } from '../config/environment.ts'
import { isJsonObject, type JsonObject } from '../core/json.ts'

/** It answers from memory; a longer silence is none that runs. */
const TIMEOUT_MS = 2_000

export interface OpsAnswer {
  readonly status: number
  readonly body: JsonObject
}

/** undefined: nobody answers there before `signal` says that it takes too long. */
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
        // Something else listens there: no gateway of ours.
        () => resolve(undefined),
      )
    })
    request.on('error', () => resolve(undefined))
  })
}
