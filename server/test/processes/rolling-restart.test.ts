/**
 * Two instances restarted one after the other under load, behind a proxy that asks the other one after an error or a 503, as
 * the shipped proxy file does: no call fails, and each is charged.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createMigratedDatabase } from '../postgres/fresh-database.ts'
import { call, expectCharged, type Finished } from './charges.ts'
import { openCountingUpstream } from './counting-upstream.ts'
import { writeGatewayFile } from './gateway-file.ts'
import { type Launched, launch } from './launch.ts'

const OPENING = 100_000_000
const LANES = 6

test('two instances are restarted one after the other, and no call fails', { timeout: 300_000 }, async () => {
  const upstream = await openCountingUpstream()
  const directory = mkdtempSync(join(tmpdir(), 'sluice-rolling-'))
  const database = await createMigratedDatabase()
  const environment = {
    SLUICE_DATA_DIR: join(directory, 'data'),
    SLUICE_CONFIG: writeGatewayFile(directory, { upstream: upstream.url, credits: OPENING }),
    SLUICE_DATABASE_URL: database.url,
    SLUICE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  }
  const instances: Launched[] = [await launch(environment)]
  instances.push(await launch(environment))
  const proxy = await openProxy(() => instances.map(({ baseUrl }) => baseUrl))
  try {
    const finished: Finished[] = []
    const failed: string[] = []
    let stopped = false
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      for (let index = 0; !stopped; index++) {
        const stream = lane % 2 === 0
        const order = { user: `lane-${lane}-${index}`, tokens: stream ? 40 : 5, stream }
        if (await call(proxy.url, order)) finished.push(order)
        else failed.push(order.user)
      }
    })
    for (const index of instances.keys()) {
      await pause(1_500)
      await instances[index]?.stop()
      instances[index] = await launch(environment)
    }
    await pause(1_500)
    stopped = true
    await Promise.all(lanes)
    expect(failed).toEqual([])
    await expectCharged(instances, { exactly: finished, atMost: [] }, { environment, credits: OPENING })
  } finally {
    await proxy.close()
    await Promise.all(instances.map((instance) => instance.stop()))
    await upstream.close()
    await database.drop()
    rmSync(directory, { recursive: true })
  }
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Calls go to the instances in turn, over connections that are kept. */
async function openProxy(addresses: () => readonly string[]) {
  const agent = new Agent({ keepAlive: true })
  let turn = 0
  const server = createServer((incoming, response) => {
    const first = turn++
    readBody(incoming).then(
      (body) => pass({ incoming, body, response, left: 2 }, first),
      () => response.destroy(),
    )
  })
  const pass = (
    order: {
      readonly incoming: IncomingMessage
      readonly body: Buffer
      readonly response: ServerResponse
      readonly left: number
    },
    number: number,
  ): void => {
    const { incoming, body, response, left } = order
    const targets = addresses()
    const target = targets[number % targets.length] ?? ''
    const next = () => {
      if (left > 1) pass({ ...order, left: left - 1 }, number + 1)
      else response.destroy()
    }
    const sending = request(
      `${target}${incoming.url ?? ''}`,
      { method: incoming.method, headers: incoming.headers, agent },
      (answer) => {
        if (answer.statusCode === 503 && left > 1) {
          answer.resume()
          next()
          return
        }
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
        answer.on('error', () => response.destroy())
      },
    )
    sending.on('error', () => (response.headersSent ? response.destroy() : next()))
    sending.end(body)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        agent.destroy()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
