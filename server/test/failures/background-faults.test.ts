/** The store goes away at every write of a background response, before it was done or after: never two orders, never free. */
import { describe, expect, test } from 'vitest'
import { ANSWER, type BackgroundVendor, playBackground } from '../gateway/background.ts'
import { type Answer, get, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { eventually } from '../gateway/videos.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { StorageUnavailable } from '../../src/storage/failures/unavailable.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const PRICE = 31_000_000n

let vendor: BackgroundVendor
/** The gateway's clock runs ahead by so much: leases run out without anybody waiting for them. */
let ahead = 0

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  now: () => Date.now() + ahead,
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url, { kind: 'openai' }),
    putModel('native'),
    putChain({ model: 'native', vendor: 'acme', protocol: 'responses', forward: 'gpt-4.1' }),
  ],
})

type Method = (...parameters: readonly unknown[]) => Promise<unknown>

interface Fault {
  readonly store: 'videos' | 'turns' | 'calls'
  readonly method: string
  /** Only calls whose parameters say this. */
  readonly which?: (text: string) => boolean
  readonly moment: 'before' | 'after'
}

/** Lets the method fail once, before or after it has done its work. Gives whether it did, and mends it. */
function plant(storage: Storage, { store, method, which = () => true, moment }: Fault) {
  const place = storage[store] as unknown as Record<string, Method>
  const own = place[method]
  if (own === undefined) throw new Error(`there is no ${method}`)
  let struck = 0
  place[method] = async (...parameters) => {
    const text = JSON.stringify(parameters, (_name, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    if (struck > 0 || !which(text)) return own.apply(place, [...parameters])
    struck += 1
    if (moment === 'after') await own.apply(place, [...parameters])
    throw new StorageUnavailable('the store went away')
  }
  return {
    struck: () => struck > 0,
    mend: () => {
      place[method] = own
    },
  }
}

const says = (word: string) => (text: string) => text.includes(word)

const WRITES: readonly (readonly [string, Omit<Fault, 'moment'>])[] = [
  ['the intent', { store: 'videos', method: 'create' }],
  ['that it is sent', { store: 'videos', method: 'patch', which: says('"phase":"sent"') }],
  ['the id of the upstream', { store: 'videos', method: 'patch', which: says('"phase":"running"') }],
  ['where the client finds it', { store: 'turns', method: 'put', which: says('"background"') }],
  ['the answer', { store: 'turns', method: 'put', which: says('"answer ') }],
  ['the charge', { store: 'calls', method: 'settle' }],
]

const FAULTS = WRITES.flatMap(([what, write]) =>
  (['before', 'after'] as const).map(
    (moment) => [`${moment} ${what} was written`, { ...write, moment }] as const,
  ),
)

describe('the store goes away', () => {
  test.each(FAULTS)('%s', async (_what, fault) => {
    vendor = playBackground(upstream)
    upstream.requests.length = 0
    const account = await gateway.newAccount()
    const bearer = { authorization: `Bearer ${account.key}` }
    const planted = plant(gateway.storage, fault)
    const created: Answer = await postJson(
      `${gateway.baseUrl}/v1/responses`,
      { model: 'native', input: 'x', background: true },
      bearer,
    )
    const [made] = vendor.made
    if (made !== undefined) vendor.finish(made)
    await eventually(async () => {
      ahead += 60_000
      gateway.running.pipeline.videos.poller.expect(0)
      await gateway.running.pipeline.videos.poller.beat()
      return planted.struck() && (await gateway.storage.videos.nextDue()) === undefined
    })
    planted.mend()
    await eventually(async () => {
      await gateway.settled()
      return (await gateway.account(account.id)).held === 0n
    })
    const orders = upstream.requests.filter(({ method }) => method === 'POST')
    expect(orders.length).toBeLessThanOrEqual(1)
    const charged = 1_000_000_000_000n - (await gateway.account(account.id)).credits
    expect([0n, PRICE]).toContain(charged)
    const found = made && (await get(`${gateway.baseUrl}/v1/responses/${made.id}`, bearer))
    const shown = found?.text.includes(ANSWER) === true
    // Whoever reads it has paid; and who was told the id reads it.
    // Nor is anybody charged for what cannot be read under the id its vendor gave it.
    expect([shown, charged === PRICE]).toEqual([shown, shown])
    if (created.status === 200) expect([shown, charged]).toEqual([true, PRICE])
    expect(await gateway.storage.ledger.verify()).toEqual([])
    const rows = (await gateway.logs()).filter(
      ({ accountId, endpoint }) => accountId === account.id && endpoint === '/v1/responses',
    )
    expect(rows.map(({ deducted }) => deducted)).toEqual([charged])
  })
})
