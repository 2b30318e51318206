/** Pictures that their vendor makes as tasks: ordered once, asked for until they have ended, charged for what was made. */
import OpenAI from 'openai'
import { describe, expect, test, vi } from 'vitest'
import { postJson } from '../../gateway/client.ts'
import { NO_TOKEN_PRICES, PATIENCE_MS, putChain, putModel, putVendor } from '../../gateway/gateway.ts'
import { openStand } from '../../gateway/open-stand.ts'
import { type Answerer, answerJson, hangUp } from '../../gateway/scripted-upstream.ts'

const PATH = '/v1/images/generations'
const BY_IMAGE = { ...NO_TOKEN_PRICES, billingModes: ['image' as const], imagePrice: '0.3' }
const PER_IMAGE = 300_000_000n
const ORDERED = '/api/v1/services/aigc/text2image/image-synthesis'
const ASKED = '/api/v1/tasks/t1'

const { gateway, upstream, spare } = await openStand(
  (at) => [
    ...putVendor('spare', at.spare),
    ...putVendor('dashscope', at.upstream, { kind: 'dashscope' }),
    putModel('picture', { supportFeatures: ['image'], pricing: BY_IMAGE }),
    putChain({
      model: 'picture',
      vendor: 'dashscope',
      protocol: 'images',
      forward: 'wanx-v1',
      clientGoneGraceMs: 0,
    }),
    putChain({ model: 'picture', vendor: 'spare', protocol: 'images', priority: 2 }),
    ...[
      ['fal', 'fal-ai/flux/dev'],
      ['replicate', 'black-forest-labs/flux-schnell'],
    ].flatMap(([kind = '', forward = '']) => [
      ...putVendor(kind, at.upstream, { kind }),
      putModel(`of-${kind}`, { supportFeatures: ['image'], pricing: BY_IMAGE }),
      putChain({ model: `of-${kind}`, vendor: kind, protocol: 'images', forward }),
      putChain({ model: `of-${kind}`, vendor: 'spare', protocol: 'images', priority: 2 }),
    ]),
    // Where the vendors of this file keep their pictures.
  ],
  { environment: { SLUICE_FETCH_ALLOW: '127.0.0.1/32' } },
)

const client = () => new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })

const task = (task_status: string, more: object = {}) =>
  answerJson({ request_id: 'r', output: { task_id: 't1', task_status, ...more } })
const ORDER = task('PENDING')
const RUNNING = task('RUNNING')
const made = (...links: readonly string[]) => task('SUCCEEDED', { results: links.map((url) => ({ url })) })
const FAILED = task('FAILED', { code: 'InternalError.Algo', message: 'broken' })
const PAGE = answerJson('<html>Welcome</html>', 200, { 'content-type': 'text/html' })

/** The order, then these, and at last the same for ever. */
function play(...answers: readonly Answerer[]): void {
  upstream.script(ORDER, ...answers.slice(0, -1))
  upstream.answer(answers.at(-1) ?? FAILED)
}

const orders = () => upstream.requests.filter(({ method }) => method === 'POST').map(({ path }) => path)
const post = (asked: object = {}) =>
  postJson(
    `${gateway.baseUrl}${PATH}`,
    { model: 'picture', prompt: 'red', ...asked },
    { authorization: `Bearer ${gateway.key}` },
  )

test('the official SDK waits for a picture that is made as a task, and pays for it [D-images-25]', async () => {
  play(RUNNING, RUNNING, made('https://p.example/1.png'))
  const { data } = await client().images.generate({ model: 'picture', prompt: 'red' })
  expect(data).toEqual([{ url: 'https://p.example/1.png' }])
  expect(upstream.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `POST ${ORDERED}`,
    ...Array.from({ length: 3 }, () => `GET ${ASKED}`),
  ])
  expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual(
    Array.from({ length: 4 }, () => 'Bearer secret-of-dashscope-main'),
  )
  expect(await gateway.lastLog()).toMatchObject({ images: 1, amount: PER_IMAGE, ending: 'complete' })
})

test.each<[string, readonly Answerer[]]>([
  ['a page of a proxy', [PAGE]],
  ['a connection that breaks', [hangUp]],
  ['a vendor that is busy', [answerJson({}, 503), answerJson({}, 429)]],
  ['a vendor that forgot it for a moment', [task('UNKNOWN'), answerJson({}, 404)]],
])('%s while it is made orders nothing anew [D-images-26]', async (_what, hindrances) => {
  play(...hindrances, RUNNING, ...hindrances, made('https://p.example/1.png'))
  expect((await post()).body.data).toEqual([{ url: 'https://p.example/1.png' }])
  expect(orders()).toEqual([ORDERED])
  expect(spare.requests).toEqual([])
  expect(await gateway.lastLog()).toMatchObject({ images: 1, amount: PER_IMAGE })
})

test.each<[string, Answerer, number]>([
  ['pages of a proxy', PAGE, 50401],
  ['broken connections', hangUp, 50401],
  ['that nobody knows it', answerJson({}, 404), 50401],
  ['an end that cannot be read', task('SUCCEEDED', { results: 'none' }), 50201],
])(
  'a task of which nothing is heard but %s is lost: not ordered anew, not charged [D-images-26]',
  async (_what, answer, code) => {
    play(RUNNING, answer)
    const { status, body } = await post()
    expect([status, body.code]).toEqual([code === 50401 ? 504 : 502, code])
    expect(orders()).toEqual([ORDERED])
    expect(spare.requests).toEqual([])
    expect(await gateway.lastLog()).toMatchObject({
      images: 0,
      amount: 0n,
      attempts: [{ outcome: 'lost-task' }],
    })
  },
)

test('a task that its vendor says has failed made nothing: the next chain makes the picture', async () => {
  play(RUNNING, FAILED)
  spare.answer(answerJson({ data: [{ b64_json: 'iVBORw0KGgo=' }] }))
  expect((await post()).status).toBe(200)
  expect(await gateway.lastLog()).toMatchObject({ vendorCode: 'spare', images: 1, amount: PER_IMAGE })
})

describe('whoever leaves while it is made', () => {
  /** Hangs up once the task is asked for; then the vendor answers so. */
  async function leave(asked: object, ...answers: readonly Answerer[]): Promise<void> {
    const leaving = new AbortController()
    let tellGone: () => void = () => undefined
    const isGone = new Promise<void>((resolve) => {
      tellGone = resolve
    })
    play(
      async (request, response) => {
        leaving.abort()
        await isGone
        await RUNNING(request, response)
      },
      RUNNING,
      ...answers,
    )
    const answer = fetch(`${gateway.baseUrl}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'picture', prompt: 'red', ...asked }),
      signal: leaving.signal,
    })
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' })
    tellGone()
  }
  const row = () =>
    vi.waitFor(async () => {
      const last = await gateway.lastLog()
      expect(last).toMatchObject({ clientGone: true, ending: 'client-gone' })
      return last
    }, PATIENCE_MS)

  test.each<[string, Answerer, number]>([
    ['that comes to be', made('https://p.example/1.png', 'https://p.example/2.png'), 2],
    [
      'of which one fails',
      task('SUCCEEDED', { results: [{ url: 'https://p.example/1.png' }, { code: 'x', message: 'x' }] }),
      1,
    ],
    ['that fails', FAILED, 0],
    ['of which nothing is heard any more', PAGE, 0],
  ])('pays for what is made: one %s [D-images-27]', async (_what, answer, images) => {
    await leave({ n: 2 }, answer)
    expect(await row()).toMatchObject({ images, amount: BigInt(images) * PER_IMAGE })
    expect(orders()).toEqual([ORDERED])
    expect(spare.requests).toEqual([])
  })
})

describe('vendors that make tasks', () => {
  const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUg==', 'base64')
  /** What its vendor answers when it is asked about the task, and where each is asked. */
  interface Way {
    readonly order: readonly [path: string, answer: object]
    readonly runs: readonly [path: string, answer: object]
    readonly made: (...urls: readonly string[]) => readonly (readonly [path: string, answer: object])[]
    readonly failed: object
    readonly auth: string
  }
  const FAL = '/fal-ai/flux/requests/r1'
  const FLUX = '/models/black-forest-labs/flux-schnell/predictions'
  const WAYS: Readonly<Record<string, Way>> = {
    fal: {
      order: ['/fal-ai/flux/dev', { request_id: 'r1', status: 'IN_QUEUE' }],
      runs: [`${FAL}/status`, { status: 'IN_PROGRESS' }],
      made: (...urls) => [
        [`${FAL}/status`, { status: 'COMPLETED' }],
        [FAL, { images: urls.map((url) => ({ url, width: 1, height: 1 })), seed: 7 }],
      ],
      failed: { status: 'COMPLETED', error: 'x', error_type: 'internal_error' },
      auth: 'Key secret-of-fal-main',
    },
    replicate: {
      order: [FLUX, { id: 'r1', status: 'starting', output: null }],
      runs: ['/predictions/r1', { id: 'r1', status: 'processing' }],
      made: (...urls) => [['/predictions/r1', { id: 'r1', status: 'succeeded', output: urls }]],
      failed: { id: 'r1', status: 'failed', error: 'x' },
      auth: 'Bearer secret-of-replicate-main',
    },
  }
  const kinds = Object.keys(WAYS)
  const wayOf = (kind: string): Way => {
    const way = WAYS[kind]
    if (way === undefined) throw new Error(`nobody plays ${kind}`)
    return way
  }
  const serving = (answers: readonly object[]): void => {
    const rest = [...answers]
    upstream.answer((request, response) => {
      if (request.path.startsWith('/pictures/')) {
        response.writeHead(200, { 'content-type': 'image/png' })
        response.end(PNG)
        return
      }
      return answerJson(rest.length > 1 ? rest.shift() : rest[0])(request, response)
    })
  }

  test.each(kinds)(
    '%s is asked until its pictures are made, which are counted [D-images-28]',
    async (kind) => {
      const { order, runs, made, auth } = wayOf(kind)
      const end = made('https://p.example/1.png', 'https://p.example/2.png')
      serving([order[1], runs[1], ...end.map(([, answer]) => answer)])
      const { data } = await client().images.generate({ model: `of-${kind}`, prompt: 'red', n: 3 })
      expect(data).toEqual([{ url: 'https://p.example/1.png' }, { url: 'https://p.example/2.png' }])
      expect(upstream.requests.map(({ path }) => path)).toEqual([
        order[0],
        runs[0],
        ...end.map(([path]) => path),
      ])
      expect(new Set(upstream.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([auth]))
      expect(await gateway.lastLog()).toMatchObject({ images: 2, amount: 2n * PER_IMAGE })
    },
  )

  test.each(kinds)('%s: bytes that a client asks for are fetched [D-images-29]', async (kind) => {
    const { order, made } = wayOf(kind)
    const [one, other] = [`${upstream.url}/pictures/1`, 'https://nowhere.invalid/2.png']
    serving([order[1], ...made(one, other).map(([, answer]) => answer)])
    const { data } = await client().images.generate({
      model: `of-${kind}`,
      prompt: 'red',
      response_format: 'b64_json',
    })
    expect(data).toEqual([{ b64_json: PNG.toString('base64') }, { url: other }])
    const [picture] = upstream.requests.filter(({ path }) => path === '/pictures/1')
    expect(picture?.headers.authorization).toBeUndefined()
    expect(await gateway.lastLog()).toMatchObject({ images: 2, amount: 2n * PER_IMAGE })
  })

  test.each(kinds)(
    '%s: a task that failed costs nothing, and the next chain makes the picture',
    async (kind) => {
      const { order, failed } = wayOf(kind)
      serving([order[1], failed])
      spare.answer(answerJson({ data: [{ b64_json: 'iVBORw0KGgo=' }] }))
      expect((await post({ model: `of-${kind}` })).status).toBe(200)
      expect(await gateway.lastLog()).toMatchObject({ vendorCode: 'spare', images: 1, amount: PER_IMAGE })
    },
  )

  test.each(kinds)('%s makes no edits: the model’s other vendor does, or nobody', async (kind) => {
    spare.answer(answerJson({ data: [{ b64_json: 'iVBORw0KGgo=' }] }))
    const asked = { model: `of-${kind}`, prompt: 'x', images: [{ image_url: 'https://p.example/1.png' }] }
    const { status } = await postJson(`${gateway.baseUrl}/v1/images/edits`, asked, {
      authorization: `Bearer ${gateway.key}`,
    })
    expect([status, upstream.requests.length, spare.requests.length]).toEqual([200, 0, 1])
  })
})
