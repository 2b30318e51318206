/** Pictures that their vendor makes as tasks: ordered once, asked for until they have ended, charged for what was made. */
import OpenAI, { toFile } from 'openai'
import { describe, expect, test, vi } from 'vitest'
import { postJson } from '../../gateway/client.ts'
import { NO_TOKEN_PRICES, PATIENCE_MS, putChain, putModel, putVendor } from '../../gateway/gateway.ts'
import { keyPair } from '../../gateway/key-pair.ts'
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
      ['kling', 'kling-v2-1'],
      ['jimeng', 'jimeng_t2i_v40'],
      ['luma', 'uni-1'],
      ['luma-dream-machine', 'photon-1'],
    ].flatMap(([kind = '', forward = '']) => [
      ...putVendor(kind, at.upstream, { kind }),
      putModel(`of-${kind}`, { supportFeatures: ['image'], pricing: BY_IMAGE }),
      putChain({ model: `of-${kind}`, vendor: kind, protocol: 'images', forward }),
      putChain({ model: `of-${kind}`, vendor: 'spare', protocol: 'images', priority: 2 }),
    ]),
    keyPair('jimeng'),
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

test.each(['\ud800', '', [], null])(
  'a task whose id is %j, which no address can hold, is no task: the next chain makes the picture',
  async (task_id) => {
    upstream.answer(answerJson({ output: { task_id, task_status: 'PENDING' } }))
    spare.answer(answerJson({ data: [{ b64_json: 'iVBORw0KGgo=' }] }))
    expect((await post()).status).toBe(200)
    expect(orders()).toEqual([ORDERED])
    expect(await gateway.lastLog()).toMatchObject({ vendorCode: 'spare', images: 1, amount: PER_IMAGE })
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
    let notifyGone: () => void = () => undefined
    const isGone = new Promise<void>((resolve) => {
      notifyGone = resolve
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
    notifyGone()
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
    expect(await row()).toMatchObject({ images, amount: BigInt(images) * PER_IMAGE, message: undefined })
    expect(orders()).toEqual([ORDERED])
    expect(spare.requests).toEqual([])
  })

  describe('where no answer is read on', () => {
    const { drains, bodyBudget } = gateway.running.pipeline
    const abandoned = async (what: 'answer' | 'task') => {
      const { accountId } = gateway
      let begun = 0
      while (drains.begin(accountId, what)) begun += 1
      return () => {
        for (; begun > 0; begun -= 1) drains.end(accountId, what)
      }
    }
    const crowded = () => {
      const spy = vi.spyOn(bodyBudget, 'crowded', 'get').mockReturnValue(true)
      return () => spy.mockRestore()
    }
    const ONE = made('https://p.example/1.png')

    test.each<[string, () => Promise<() => void> | (() => void)]>([
      ['bodies take all the room', crowded],
      ['the account has left as many answers as are read on', () => abandoned('answer')],
    ])('since %s, a task is followed all the same: what is made is paid', async (_what, fill) => {
      const empty = await fill()
      await leave({ n: 2 }, ONE)
      expect(await row()).toMatchObject({ images: 1, amount: PER_IMAGE, message: undefined })
      empty()
    })

    test.each<[string, asked: object, () => Promise<() => void> | (() => void)]>([
      ['the account has left as many tasks as are followed', {}, () => abandoned('task')],
      ['bodies take all the room, its own much of it', { user: 'x'.repeat(300_000) }, crowded],
    ])('since %s, what was requested is paid, and the row says why', async (_what, asked, fill) => {
      const empty = await fill()
      await leave({ n: 2, ...asked })
      expect(await row()).toMatchObject({
        images: 2,
        amount: 2n * PER_IMAGE,
        usageSource: 'estimated',
        code: undefined,
        message: expect.stringContaining('not followed to its end'),
      })
      empty()
    })
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
    readonly auth: RegExp
    /** Pictures of one call, where it makes that many. */
    readonly most: number
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
      auth: /^Key secret-of-fal-main$/,
      most: 2,
    },
    replicate: {
      order: [FLUX, { id: 'r1', status: 'starting', output: null }],
      runs: ['/predictions/r1', { id: 'r1', status: 'processing' }],
      made: (...urls) => [['/predictions/r1', { id: 'r1', status: 'succeeded', output: urls }]],
      failed: { id: 'r1', status: 'failed', error: 'x' },
      auth: /^Bearer secret-of-replicate-main$/,
      most: 2,
    },
    kling: {
      order: ['/v1/images/generations', { code: 0, data: { task_id: 'r1', task_status: 'submitted' } }],
      runs: ['/v1/images/generations/r1', { code: 0, data: { task_id: 'r1', task_status: 'processing' } }],
      made: (...urls) => [
        [
          '/v1/images/generations/r1',
          {
            code: 0,
            data: {
              task_id: 'r1',
              task_status: 'succeed',
              task_result: { images: urls.map((url, index) => ({ index, url })) },
            },
          },
        ],
      ],
      failed: { code: 0, data: { task_id: 'r1', task_status: 'failed', task_status_msg: 'x' } },
      auth: /^Bearer secret-of-kling-main$/,
      most: 2,
    },
    jimeng: {
      order: ['/', { code: 10_000, data: { task_id: 'r1' } }],
      runs: ['/', { code: 10_000, data: { status: 'generating' } }],
      made: (...urls) => [['/', { code: 10_000, data: { status: 'done', image_urls: urls } }]],
      failed: { code: 50215, message: 'x', data: null },
      auth: /^HMAC-SHA256 Credential=access-of-jimeng\/\d{8}\/cn-north-1\/cv\/request, /,
      most: 1,
    },
    luma: {
      order: ['/generations', { id: 'r1', state: 'queued' }],
      runs: ['/generations/r1', { id: 'r1', state: 'processing' }],
      made: (url) => [
        ['/generations/r1', { id: 'r1', state: 'completed', output: [{ type: 'image', url: url ?? null }] }],
      ],
      failed: { id: 'r1', state: 'failed', failure_reason: 'x' },
      auth: /^Bearer secret-of-luma-main$/,
      most: 1,
    },
    'luma-dream-machine': {
      order: ['/generations/image', { id: 'r1', state: 'queued' }],
      runs: ['/generations/r1', { id: 'r1', state: 'dreaming' }],
      made: (url) => [
        ['/generations/r1', { id: 'r1', state: 'completed', assets: { image: url ?? null, video: null } }],
      ],
      failed: { id: 'r1', state: 'failed', failure_reason: 'x' },
      auth: /^Bearer secret-of-luma-dream-machine-main$/,
      most: 1,
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
      const { order, runs, made, auth, most } = wayOf(kind)
      const urls = ['https://p.example/1.png', 'https://p.example/2.png'].slice(0, most)
      const end = made(...urls)
      serving([order[1], runs[1], ...end.map(([, answer]) => answer)])
      const { data } = await client().images.generate({ model: `of-${kind}`, prompt: 'red', n: 3 })
      expect(data).toEqual(urls.map((url) => ({ url })))
      expect(upstream.requests.map(({ path }) => path)).toEqual([
        order[0],
        runs[0],
        ...end.map(([path]) => path),
      ])
      for (const { headers } of upstream.requests) expect(headers.authorization).toMatch(auth)
      expect(await gateway.lastLog()).toMatchObject({ images: most, amount: BigInt(most) * PER_IMAGE })
    },
  )

  test.each(kinds)('%s: bytes that a client asks for are fetched [D-images-29]', async (kind) => {
    const { order, made, most } = wayOf(kind)
    const [one, other] = [`${upstream.url}/pictures/1`, 'https://nowhere.invalid/2.png']
    serving([order[1], ...made(...[one, other].slice(0, most)).map(([, answer]) => answer)])
    const { data } = await client().images.generate({
      model: `of-${kind}`,
      prompt: 'red',
      response_format: 'b64_json',
    })
    expect(data).toEqual([{ b64_json: PNG.toString('base64') }, { url: other }].slice(0, most))
    const [picture] = upstream.requests.filter(({ path }) => path === '/pictures/1')
    expect(picture?.headers.authorization).toBeUndefined()
    expect(await gateway.lastLog()).toMatchObject({ images: most, amount: BigInt(most) * PER_IMAGE })
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

  test.each(['fal', 'replicate'])(
    '%s makes no edits: the model’s other vendor does, or nobody',
    async (kind) => {
      spare.answer(answerJson({ data: [{ b64_json: 'iVBORw0KGgo=' }] }))
      const asked = { model: `of-${kind}`, prompt: 'x', images: [{ image_url: 'https://p.example/1.png' }] }
      const { status } = await postJson(`${gateway.baseUrl}/v1/images/edits`, asked, {
        authorization: `Bearer ${gateway.key}`,
      })
      expect([status, upstream.requests.length, spare.requests.length]).toEqual([200, 0, 1])
    },
  )

  const jimengAsked = () => upstream.requests.map(({ query, json }) => [query.replace(/^\?/, ''), json()])

  test('Jimeng is asked by POST about its task, signed each time, and told to make one [D-images-38]', async () => {
    const { order, runs, made } = wayOf('jimeng')
    serving([order[1], runs[1], ...made('https://p.example/1.png').map(([, answer]) => answer)])
    await post({ model: 'of-jimeng', n: 2, size: '2048x2048' })
    const question = [
      'Action=CVSync2AsyncGetResult&Version=2022-08-31',
      { req_key: 'jimeng_t2i_v40', task_id: 'r1', req_json: '{"return_url":true}' },
    ]
    expect(jimengAsked()).toEqual([
      [
        'Action=CVSync2AsyncSubmitTask&Version=2022-08-31',
        { req_key: 'jimeng_t2i_v40', prompt: 'red', force_single: true, width: 2048, height: 2048 },
      ],
      question,
      question,
    ])
    expect(new Set(upstream.requests.map(({ headers }) => headers['content-type']))).toEqual(
      new Set(['application/json']),
    )
    expect(await gateway.lastLog()).toMatchObject({ droppedFields: ['n'], images: 1 })
  })

  test.each<[string, Answerer]>([
    ['a page of a proxy', PAGE],
    ['a connection that breaks', hangUp],
    ['that it is asked too often', answerJson({ code: 50429, message: 'x' })],
    ['that it knows no such task', answerJson({ code: 10_000, data: { status: 'not_found' } })],
    ['a status of failure', answerJson({ code: 50501, message: 'x' }, 500)],
  ])('of Jimeng’s task is asked again after %s: nothing is ordered anew', async (_what, hindrance) => {
    const { order, runs, made } = wayOf('jimeng')
    const [[, end] = ['', {}]] = made('https://p.example/1.png')
    upstream.script(answerJson(order[1]), hindrance, answerJson(runs[1]), hindrance)
    upstream.answer(answerJson(end))
    expect((await post({ model: 'of-jimeng' })).body.data).toEqual([{ url: 'https://p.example/1.png' }])
    expect(jimengAsked().filter(([query]) => String(query).includes('Submit'))).toHaveLength(1)
    expect(spare.requests).toEqual([])
    expect(await gateway.lastLog()).toMatchObject({ images: 1, amount: PER_IMAGE })
  })

  test.each<[string, readonly Answerer[]]>([
    ['kling', [answerJson({ code: 1301, message: 'sensitive' })]],
    ['kling', [answerJson({ code: 1301, message: 'sensitive' }, 400)]],
    [
      'kling',
      [
        answerJson(wayOf('kling').order[1]),
        answerJson({
          code: 0,
          data: {
            task_id: 'r1',
            task_status: 'failed',
            task_status_msg: 'Failure to pass the risk control system',
          },
        }),
      ],
    ],
    ['jimeng', [answerJson({ code: 50412, message: 'Text Risk Not Pass' })]],
    [
      'jimeng',
      [
        answerJson(wayOf('jimeng').order[1]),
        answerJson({ code: 50511, message: 'Post Img Risk Not Pass' }, 400),
      ],
    ],
    [
      'luma',
      [
        answerJson(wayOf('luma').order[1]),
        answerJson({ id: 'r1', state: 'failed', failure_code: 'content_moderated', failure_reason: 'no' }),
      ],
    ],
  ])(
    '%s: content that is withheld costs nothing, and no other chain is asked [D-images-39]',
    async (kind, answers) => {
      upstream.script(...answers.slice(0, -1))
      upstream.answer(answers.at(-1) ?? PAGE)
      const { status } = await post({ model: `of-${kind}` })
      expect([status, spare.requests.length]).toEqual([400, 0])
      expect(await gateway.lastLog()).toMatchObject({ images: 0, amount: 0n })
    },
  )

  describe('changed pictures', () => {
    const edit = (model: string, image = 'a.png') =>
      toFile(PNG, image, { type: 'image/png' }).then((file) =>
        client().images.edit({ model, image: file, prompt: 'red', n: 1 }),
      )
    const base64 = PNG.toString('base64')

    test.each<[string, object]>([
      ['kling', { model_name: 'kling-v2-1', prompt: 'red', image: base64, n: 1 }],
      [
        'jimeng',
        { req_key: 'jimeng_t2i_v40', prompt: 'red', binary_data_base64: [base64], force_single: true },
      ],
      [
        'luma',
        {
          model: 'uni-1',
          prompt: 'red',
          type: 'image_edit',
          source: { data: base64, media_type: 'image/png' },
        },
      ],
    ])('%s gets the picture of the official SDK in its own form [D-images-40]', async (kind, sent) => {
      const { order, made } = wayOf(kind)
      serving([order[1], ...made('https://p.example/1.png').map(([, answer]) => answer)])
      expect((await edit(`of-${kind}`)).data).toEqual([{ url: 'https://p.example/1.png' }])
      expect(upstream.requests[0]?.json()).toEqual(sent)
      expect(await gateway.lastLog()).toMatchObject({ images: 1, amount: PER_IMAGE })
    })

    test('of a vendor that takes addresses only go to the next one, which gets the form [D-images-41]', async () => {
      spare.answer(answerJson({ data: [{ b64_json: base64 }] }))
      expect((await edit('of-luma-dream-machine')).data).toEqual([{ b64_json: base64 }])
      expect(upstream.requests).toEqual([])
      expect(spare.requests[0]?.body.includes(PNG)).toBe(true)
      expect(await gateway.lastLog()).toMatchObject({ vendorCode: 'spare', amount: PER_IMAGE })
    })

    test('by address reach it', async () => {
      const { order, made } = wayOf('luma-dream-machine')
      serving([order[1], ...made('https://p.example/1.png').map(([, answer]) => answer)])
      const asked = {
        model: 'of-luma-dream-machine',
        prompt: 'red',
        images: [{ image_url: 'https://p.example/a.png' }],
      }
      const { body } = await postJson(`${gateway.baseUrl}/v1/images/edits`, asked, {
        authorization: `Bearer ${gateway.key}`,
      })
      expect(body.data).toEqual([{ url: 'https://p.example/1.png' }])
      expect(upstream.requests[0]?.json()).toEqual({
        model: 'photon-1',
        prompt: 'red',
        modify_image_ref: { url: 'https://p.example/a.png' },
      })
    })
  })
})
