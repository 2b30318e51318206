/** The account's calls: listed, filtered, exported, summed. */
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { postJson } from '../gateway/client.ts'
import { type Customer, openCustomer } from '../gateway/customer.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'
import { callId } from '../../src/core/ids.ts'
import { ZERO } from '../../src/core/money.ts'
import { withGateway } from '../gateway/with-gateway.ts'

interface Row {
  readonly request_id: string
  readonly created_at: string
  readonly key_id: string
  readonly model: string
  readonly app_id: string | null
  readonly http_status: number
  readonly amount: string
  readonly deducted: string
  readonly usage: { readonly input: number | null; readonly output: number | null }
}

let customer: Customer
let second: { readonly key: string; readonly keyId: string }
let stranger: Customer

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url),
    putModel('small'),
    putChain({ model: 'small', vendor: 'acme' }),
    putModel('large'),
    putChain({ model: 'large', vendor: 'acme', rateMultiplier: '3' }),
  ],
})

beforeAll(async () => {
  customer = await openCustomer(gateway)
  second = await gateway.newKey(customer.id)
  stranger = await openCustomer(gateway)
  await call(customer.key, 'small', { input: 100_000, output: 5 })
  await call(customer.key, 'large', { input: 200_000, output: 7 }, { 'gw-app-id': 'shop' })
  await call(second.key, 'small', { input: 300_000, output: 11 }, { 'gw-app-id': '=SUM(A1)' })
  await call(second.key, 'missing', { input: 1, output: 1 })
  await call(stranger.key, 'small', { input: 400_000, output: 13 })
  await gateway.settled()
})

async function call(
  key: string,
  model: string,
  tokens: { readonly input: number; readonly output: number },
  headers: Record<string, string> = {},
): Promise<void> {
  upstream.answer(
    answerJson({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'x',
      choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: tokens.input, completion_tokens: tokens.output },
    }),
  )
  await postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model, messages: [{ role: 'user', content: 'Hi' }] },
    { authorization: `Bearer ${key}`, ...headers },
  )
  await gateway.settled()
}

const logs = (query = ''): Promise<readonly Row[]> => customer.ask('GET', `logs?${query}`)

describe('GET …/logs with a session', () => {
  test('shows the calls of every own key, newest first, and of nobody else [D-accounts-56] [D-accounts-58]', async () => {
    const rows = await logs()
    expect(rows.map(({ key_id: key }) => key)).toEqual([
      second.keyId,
      second.keyId,
      customer.keyId,
      customer.keyId,
    ])
    const times = rows.map(({ created_at: at }) => at)
    expect(times).toEqual([...times].sort().reverse())
  })

  test('takes key_id; a key of somebody else matches nothing [D-accounts-64]', async () => {
    expect(await logs(`key_id=${second.keyId}`)).toHaveLength(2)
    expect(await logs(`key_id=${stranger.keyId}`)).toEqual([])
  })

  test('with an API key: its own calls only, whatever key is named [D-accounts-57]', async () => {
    const headers = { authorization: `Bearer ${second.key}` }
    expect(await customer.ask('GET', 'logs', undefined, headers)).toHaveLength(2)
    expect(await customer.ask('GET', `logs?key_id=${customer.keyId}`, undefined, headers)).toEqual([])
  })

  test('the totals of a filter are those of its calls, from kept sums or row by row', async () => {
    const rows: readonly Row[] = await customer.ask('GET', 'logs')
    const sumOf = (some: readonly Row[]) => ({
      calls: some.length,
      failed: some.filter(({ http_status }) => http_status >= 400).length,
      tokens: some.reduce((all, { usage }) => all + (usage.input ?? 0) + (usage.output ?? 0), 0),
      deducted: String(some.reduce((all, { deducted }) => all + Number(deducted), 0)),
      complete: true,
    })
    const small = rows.filter(({ model }) => model === 'small')
    const cases: readonly (readonly [string, readonly Row[]])[] = [
      ['', rows],
      ['?cost_to=1000000', rows],
      ['?model=small', small],
      ['?model=small&failed=false', small],
      ['?app_id=shop', rows.filter(({ app_id }) => app_id === 'shop')],
      ['?failed=true', rows.filter(({ http_status }) => http_status >= 400)],
      [`?key_id=${second.keyId}`, rows.filter(({ key_id }) => key_id === second.keyId)],
      ['?key_id=nobody', []],
    ]
    for (const [query, some] of cases) {
      expect(await customer.ask('GET', `logs/totals${query}`), query).toEqual(sumOf(some))
    }
    expect(small).toHaveLength(2)
  })

  test('takes a range of cost, in Credits deducted', async () => {
    const costs = (await logs()).map(({ deducted }) => Number(deducted)).sort((left, right) => left - right)
    const [, lowest = 0, middle = 0, highest = 0] = costs
    expect(lowest).toBeLessThan(middle)
    expect(await logs(`cost_from=${middle}&cost_to=${middle}`)).toHaveLength(1)
    expect(await logs(`cost_from=${middle}`)).toHaveLength(2)
    expect(await logs(`cost_to=${lowest}`)).toHaveLength(2)
    expect(await logs(`cost_from=${highest + 1}`)).toEqual([])
    expect((await customer.send('GET', 'logs?cost_from=much')).status).toBe(400)
  })
})

describe('GET …/logs/export', () => {
  test('NDJSON holds the rows of the list, CSV one line for each, and no text of a client runs as a formula', async () => {
    const listed = await logs()
    const ndjson = await customer.send('GET', 'logs/export?format=ndjson')
    expect(ndjson.headers.get('content-type')).toContain('application/x-ndjson')
    expect(
      ndjson.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Row),
    ).toEqual(listed)
    const csv = await customer.send('GET', 'logs/export?format=csv')
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="calls.csv"')
    const [head = '', ...lines] = csv.text.trimEnd().split('\r\n')
    expect(lines).toHaveLength(listed.length)
    expect(head.split(',')).toContain('usage_cached_input')
    expect(lines[1]).toContain(",'=SUM(A1),")
  })

  test('takes the filters of the list, and a key exports its own calls', async () => {
    const one = await customer.send('GET', 'logs/export?format=ndjson&model=large')
    expect(one.text.trimEnd().split('\n')).toHaveLength(1)
    const headers = { authorization: `Bearer ${second.key}` }
    const own = await customer.send('GET', 'logs/export?format=ndjson', undefined, headers)
    expect(own.text.trimEnd().split('\n')).toHaveLength(2)
    const other = `logs/export?format=ndjson&key_id=${customer.keyId}`
    expect((await customer.send('GET', other, undefined, headers)).text).toBe('')
  })

  test('more rows than a page join without gap or repetition', async () => {
    const many = await openCustomer(gateway)
    const [row] = (
      await gateway.storage.logs.page({ accountId: stranger.id }, { limit: 1, cursor: undefined })
    ).rows
    if (row === undefined) throw new Error('there is no row to copy')
    await Promise.all(
      Array.from({ length: 1_203 }, (_, index) => {
        const id = callId(`copy-${index}`)
        const copy = { ...row, callId: id, requestId: id, accountId: many.id }
        return gateway.storage.calls.log({
          log: { ...copy, amount: ZERO, deducted: ZERO, recipe: undefined },
        })
      }),
    )
    const text = (await many.send('GET', 'logs/export?format=ndjson')).text
    const ids = text
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as Row).request_id)
    expect(ids).toHaveLength(1_203)
    expect(new Set(ids).size).toBe(1_203)
  })

  test('an account exports a few files at once; one that ends, read or left, makes room', async () => {
    const url = `${gateway.baseUrl}/api/v1/user/user/logs/export?format=ndjson`
    const many = await openCustomer(gateway)
    const [row] = (
      await gateway.storage.logs.page({ accountId: stranger.id }, { limit: 1, cursor: undefined })
    ).rows
    if (row === undefined) throw new Error('there is no row to copy')
    // Enough that no buffer on the way takes it whole while nobody reads.
    const big = { ...row, accountId: many.id, amount: ZERO, deducted: ZERO, recipe: undefined }
    await Promise.all(
      Array.from({ length: 2_000 }, (_, index) => {
        const id = callId(`big-${index}`)
        const log = { ...big, callId: id, requestId: id, droppedFields: ['x'.repeat(25_000)] }
        return gateway.storage.calls.log({ log })
      }),
    )
    const open = () => fetch(url, { headers: many.headers })
    const running = [await open(), await open(), await open()]
    const refused = await many.send('GET', 'logs/export')
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([429, 42901, '5'])
    expect((await customer.send('GET', 'logs/export')).status).toBe(200)
    for (const response of running) await response.body?.cancel()
    await vi.waitUntil(async () => (await many.send('GET', 'logs/export')).status === 200, {
      interval: 20,
      timeout: 60_000,
    })
  })

  test('a client that goes away ends the reading', async () => {
    const controller = new AbortController()
    const response = await fetch(`${gateway.baseUrl}/api/v1/user/user/logs/export?format=ndjson`, {
      headers: customer.headers,
      signal: controller.signal,
    })
    await response.body?.cancel()
    controller.abort()
    expect((await customer.send('GET', 'logs?limit=1')).status).toBe(200)
  })
})

interface Usage {
  readonly rows: readonly {
    readonly at: string
    readonly model: string | null
    readonly key_id: string | null
    readonly app_id: string | null
    readonly calls: number
    readonly failed: number
    readonly usage: { readonly input: number; readonly output: number }
    readonly amount: string
    readonly deducted: string
  }[]
  readonly totals: Usage['rows'][number]
}

describe('GET …/usage', () => {
  const micro = (text: string) => Math.round(Number(text) * 1e6)
  const total = (rows: readonly { readonly deducted: string }[]) =>
    rows.reduce((sum, row) => sum + micro(row.deducted), 0)

  test.each(['interval=hour', 'interval=day', 'interval=total'])(
    'sums equal those of the log, %s, by model, key and app [D-accounts-113]',
    async (interval) => {
      const rows = await logs()
      for (const groups of ['', 'model', 'key', 'app', 'model,key,app']) {
        const usage: Usage = await customer.ask('GET', `usage?${interval}&group_by=${groups}`)
        expect(total(usage.rows)).toBe(total(rows))
        expect(micro(usage.totals.deducted)).toBe(total(rows))
        expect(usage.totals).toMatchObject({ calls: 4, failed: 1 })
        expect(usage.totals.usage.input).toBe(rows.reduce((sum, row) => sum + (row.usage.input ?? 0), 0))
        expect(usage.totals.usage.output).toBe(5 + 7 + 11)
      }
    },
  )

  test('each group is summed apart', async () => {
    const byKey: Usage = await customer.ask('GET', 'usage?interval=total&group_by=key')
    expect(new Map(byKey.rows.map(({ key_id: key, calls }) => [key, calls]))).toEqual(
      new Map([
        [customer.keyId, 2],
        [second.keyId, 2],
      ]),
    )
    const byModel: Usage = await customer.ask(
      'GET',
      `usage?interval=total&group_by=model&key_id=${customer.keyId}`,
    )
    expect(new Set(byModel.rows.map(({ model }) => model))).toEqual(new Set(['large', 'small']))
  })

  test('a key sees its own sums, whatever key is named', async () => {
    const headers = { authorization: `Bearer ${second.key}` }
    const usage: Usage = await customer.ask(
      'GET',
      `usage?interval=total&key_id=${customer.keyId}`,
      undefined,
      headers,
    )
    expect(usage.totals.usage.output).toBe(11)
  })

  test('a period holds what lies in it, both ends included, in whatever zone its days are', async () => {
    const [newest] = await logs()
    const at = Date.parse(newest?.created_at ?? '')
    const one: Usage = await customer.ask('GET', `usage?from=${at}&to=${at}&time_zone=America/St_Johns`)
    expect(one.totals.calls).toBe(1)
    const none: Usage = await customer.ask('GET', `usage?from=${at + 1}&to=${at + 2}`)
    expect(none).toMatchObject({ rows: [], totals: { calls: 0, deducted: '0' } })
  })

  test.each([
    'interval=minute',
    'group_by=model,vendor',
    'interval=hour&from=2026-01-01&to=2026-06-01',
    'from=2020-01-01',
    'from=5&to=4',
    'time_zone=Mars',
    'group=model',
  ])('refused: %s', async (query) => {
    expect((await customer.send('GET', `usage?${query}`)).status).toBe(400)
  })
})
