/**
 * A database that is cut off, paused or restarted while calls run: new calls are refused clearly, running ones end
 * cleanly, it comes back by itself, and in the end nothing is lost and nothing doubled.
 */
import { afterEach, expect, test } from 'vitest'
import { postJson } from '../gateway/client.ts'
import {
  type TestGateway,
  openGateway,
  putChain,
  putModel,
  putVendor,
  TOKEN_PRICES,
} from '../gateway/gateway.ts'
import { Cable } from '../postgres/cable.ts'
import { createMigratedDatabase } from '../postgres/fresh-database.ts'
import { type OwnServer, openOwnServer } from '../postgres/server.ts'
import { type CountingUpstream, INPUT_TOKENS, openCountingUpstream } from '../processes/counting-upstream.ts'

const AWAY_MS = 1_500
const STREAM_TOKENS = 60
const SHORT_TOKENS = 5
const OPENING = 1_000_000

interface Away {
  readonly cable: Cable
  begin(): Promise<void>
  end(): Promise<void>
}

const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function cableTo(port: number): Promise<{ readonly cable: Cable; readonly port: number }> {
  const cable = new Cable({ host: '127.0.0.1', port })
  const opened = await cable.open()
  closing.push(() => cable.close())
  return { cable, port: opened }
}

async function overSharedServer(way: 'cut' | 'pause'): Promise<Away & { readonly url: string }> {
  const database = await createMigratedDatabase()
  closing.push(() => database.drop())
  const url = new URL(database.url)
  const { cable, port } = await cableTo(Number(url.port || 5432))
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return {
    cable,
    url: url.href,
    begin: () => Promise.resolve(cable[way]()),
    end: () => Promise.resolve(cable.mend()),
  }
}

async function overOwnServer(): Promise<Away & { readonly url: string }> {
  const server: OwnServer = await openOwnServer('restarted')
  closing.push(() => server.close())
  const { cable, port } = await cableTo(server.port)
  return {
    cable,
    url: `postgres://sluice@127.0.0.1:${port}/postgres`,
    begin: () => server.stop(),
    end: async () => cable.lead(await server.startAgain()),
  }
}

test.each([
  ['cut off', () => overSharedServer('cut')],
  ['paused', () => overSharedServer('pause')],
  ['restarted', overOwnServer],
] as const)('%s under load: clear errors meanwhile, nothing lost, nothing doubled', async (_, open) => {
  const away = await open()
  const upstream = await openCountingUpstream()
  closing.push(() => upstream.close())
  const gateway = await openGateway({
    environment: {
      SLUICE_DATABASE_URL: away.url,
      SLUICE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    },
  })
  closing.push(() => gateway.close())
  await prepare(gateway, upstream)
  const load = new Load(gateway)
  load.start()
  await pause(500)
  await away.begin()
  await pause(AWAY_MS)
  expect(await load.statusNow()).toBe(503)
  await away.end()
  await load.served()
  await load.stop()
  await gateway.settled()
  expect(load.unclear).toEqual([])
  const rows = new Map((await gateway.logs(10_000)).map((row) => [row.user ?? '', row]))
  const wrong = load.finished.filter(({ user, tokens }) => {
    const row = rows.get(user)
    return row?.deducted !== BigInt(INPUT_TOKENS + tokens) * 1_000_000n
  })
  expect(wrong).toEqual([])
  const spent = [...rows.values()].reduce((sum, row) => sum + row.deducted, 0n)
  expect(await gateway.account()).toMatchObject({
    held: 0n,
    credits: BigInt(OPENING) * 1_000_000n - spent,
  })
})

async function prepare(gateway: TestGateway, upstream: CountingUpstream): Promise<void> {
  await gateway.catalogue(
    ...putVendor('acme', upstream.url),
    // One token is one Credit.
    putModel('m', { pricing: { ...TOKEN_PRICES, inputPrice: '1000', outputPrice: '1000' } }),
    putChain({ model: 'm', vendor: 'acme' }),
  )
}

/** Clients that call without a pause, and what they were told. */
class Load {
  readonly finished: { readonly user: string; readonly tokens: number }[] = []
  /** Answers that are neither a whole answer nor a clear refusal. */
  readonly unclear: string[] = []
  readonly #gateway: TestGateway
  #running: Promise<void>[] = []
  #stopped = false
  #next = 0

  constructor(gateway: TestGateway) {
    this.#gateway = gateway
  }

  start(): void {
    this.#running = [
      ...Array.from({ length: 4 }, () => this.#loop(false)),
      ...Array.from({ length: 4 }, () => this.#loop(true)),
    ]
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#running)
  }

  /** Of a call made just now. */
  async statusNow(): Promise<number> {
    return (await this.#call(false)).status
  }

  /** Resolves when calls are answered again. */
  async served(): Promise<void> {
    const until = Date.now() + 30_000
    while ((await this.statusNow()) !== 200) {
      if (Date.now() > until) throw new Error('the gateway does not come back')
      await pause(50)
    }
  }

  async #loop(stream: boolean): Promise<void> {
    while (!this.#stopped) {
      const { status } = await this.#call(stream)
      if (status !== 200) await pause(20)
    }
  }

  async #call(stream: boolean): Promise<{ readonly status: number }> {
    const user = `user-${this.#next++}`
    const tokens = stream ? STREAM_TOKENS : SHORT_TOKENS
    const answer = await postJson(
      `${this.#gateway.baseUrl}/v1/chat/completions`,
      {
        model: 'm',
        messages: [{ role: 'user', content: 'Hi' }],
        user,
        tokens,
        stream,
        max_tokens: tokens,
        stream_options: { include_usage: true },
      },
      { authorization: `Bearer ${this.#gateway.key}` },
    )
    const whole = answer.status === 200 && (!stream || answer.text.endsWith('data: [DONE]\n\n'))
    const refused = answer.status === 503 && answer.body.code === 50301
    if (whole) this.finished.push({ user, tokens })
    else if (!refused) this.unclear.push(`${answer.status} ${answer.text.slice(-200)}`)
    return answer
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
