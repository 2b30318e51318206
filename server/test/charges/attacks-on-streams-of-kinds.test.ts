/**
 * Attacks on the money of answers in events that are no conversation: whoever leaves in the middle of one, and vendors that
 * break it, never end it or say more than belongs in it. Nothing may be held, and nothing run on, afterwards.
 */
import { describe, expect, test, vi } from 'vitest'
import type { PassedFormId } from '../../src/core/catalogue.ts'
import { waveFile } from '../calls/wave-file.ts'
import { NO_TOKEN_PRICES, PATIENCE_MS, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { openStand } from '../gateway/open-stand.ts'
import type { Answerer } from '../gateway/scripted-upstream.ts'

const CREDIT = 1_000_000n
const CREDITS = 100_000n
/** More than a vendor makes in one call. */
const IMAGES_MAX = 100n

interface Kind {
  readonly path: string
  readonly protocol: PassedFormId
  readonly pricing: object
  readonly asked: Readonly<Record<string, unknown>>
  /** It asks with a file. */
  readonly form?: true
  /** What comes first, and what ends it. */
  readonly first: object
  readonly last: object
  /** Of a whole answer, µCr. */
  readonly price: bigint
}

const KINDS = {
  images: {
    path: '/v1/images/generations',
    protocol: 'images',
    pricing: { billingModes: ['image'], imagePrice: '0.3' },
    asked: { prompt: 'red', stream: true, partial_images: 2 },
    first: { type: 'image_generation.partial_image', b64_json: 'aaaa', partial_image_index: 0 },
    last: { type: 'image_generation.completed', b64_json: 'bbbb' },
    price: 300n * CREDIT,
  },
  speech: {
    path: '/v1/audio/speech',
    protocol: 'speech',
    pricing: { billingModes: ['character'], characterPrice: '1000' },
    asked: { input: 'Hello', voice: 'v', stream_format: 'sse' },
    first: { type: 'speech.audio.delta', audio: 'aaaa' },
    last: { type: 'speech.audio.done' },
    price: 5n * CREDIT,
  },
  transcription: {
    path: '/v1/audio/transcriptions',
    protocol: 'transcription',
    pricing: { billingModes: ['audio_second'], audioSecondPrice: '0.01' },
    asked: { stream: 'true' },
    form: true,
    first: { type: 'transcript.text.delta', delta: 'Hel' },
    last: { type: 'transcript.text.done', text: 'Hello' },
    price: 10n * CREDIT,
  },
} as const satisfies Readonly<Record<string, Kind>>
type KindName = keyof typeof KINDS
const NAMES = Object.keys(KINDS).filter((name): name is KindName => name in KINDS)

const { gateway, upstream } = await openStand((at) => [
  ...putVendor('acme', at.upstream, {
    timeouts: { connectMs: 2_000, firstByteMs: 2_000, idleMs: 400 },
  }),
  ...NAMES.flatMap((name) => {
    const { pricing, protocol }: Kind = KINDS[name]
    return [
      putModel(name, { supportFeatures: ['text'], pricing: { ...NO_TOKEN_PRICES, ...pricing } }),
      putChain({ model: name, vendor: 'acme', protocol, clientGoneGraceMs: 0 }),
    ]
  }),
])

const event = (said: object) => `data: ${JSON.stringify(said)}\n\n`

/** Begins a stream with these texts; then it is the caller's. */
const begin =
  (texts: readonly string[], then: Answerer): Answerer =>
  async (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const text of texts) await new Promise<void>((resolve) => response.write(text, () => resolve()))
    await then(request, response)
  }
const end: Answerer = (_request, response) => {
  response.end()
}
const breakOff: Answerer = (_request, response) => {
  response.destroy()
}
const staySilent: Answerer = () => undefined
/** A thousand times, which is more than belongs in any answer. */
const repeat =
  (text: string): Answerer =>
  async (_request, response) => {
    for (let at = 0; at < 1_000 && !response.destroyed; at += 1)
      await new Promise<void>((resolve) => response.write(text, () => resolve()))
    response.end()
  }
/** So many that nobody would read them all. */
const repeatForEver =
  (text: string): Answerer =>
  (_request, response) => {
    const write = (): void => {
      while (!response.destroyed && response.write(text));
    }
    response.on('drain', write)
    write()
  }

function bodyOf(name: KindName): FormData | string {
  const { asked, form }: Kind = KINDS[name]
  if (form === undefined) return JSON.stringify({ model: name, ...asked })
  const data = new FormData()
  for (const [field, value] of Object.entries({ model: name, ...asked })) data.set(field, String(value))
  data.set('file', new Blob([new Uint8Array(waveFile(1))]), 'a.wav')
  return data
}

function open(name: KindName, key: string, signal?: AbortSignal): Promise<Response> {
  const body = bodyOf(name)
  const typed = typeof body === 'string' ? { 'content-type': 'application/json' } : {}
  return fetch(`${gateway.baseUrl}${KINDS[name].path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...typed },
    body,
    ...(signal === undefined ? {} : { signal }),
  })
}

/** All that comes before the end, or before the connection breaks. */
async function textOf(answer: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const piece of answer.body ?? []) text += decoder.decode(piece, { stream: true })
  } catch {
    text += '|'
  }
  return text
}

async function paidBy(account: Parameters<typeof gateway.account>[0]): Promise<bigint> {
  await gateway.settled()
  const { credits, held } = await gateway.account(account)
  expect(held).toBe(0n)
  expect(gateway.running.pipeline.bodyBudget.used).toBe(0)
  return CREDITS * CREDIT - credits
}

const customer = () => gateway.newAccount({ credits: Number(CREDITS) })

describe.each(NAMES)('%s', (name) => {
  const kind: Kind = KINDS[name]

  test('a whole stream is paid once', async () => {
    const { id, key } = await customer()
    upstream.answer(begin([event(kind.first), event(kind.last)], end))
    expect(await textOf(await open(name, key))).toContain(JSON.stringify(kind.last))
    expect(await paidBy(id)).toBe(kind.price)
  })

  test('whoever leaves in the middle of it pays for what was made', async () => {
    const { id, key } = await customer()
    const leaving = new AbortController()
    upstream.answer(begin([event(kind.first)], staySilent))
    const answer = await open(name, key, leaving.signal)
    const reader = answer.body?.getReader()
    await reader?.read()
    leaving.abort()
    const left = { accountId: id, clientGone: true, ending: 'client-gone' }
    await vi.waitFor(async () => expect(await gateway.lastLog()).toMatchObject(left), PATIENCE_MS)
    expect(await paidBy(id)).toBe(kind.price)
  })

  test.each<[string, readonly string[], Answerer]>([
    ['breaks off', [], breakOff],
    ['ends without an end', [], end],
    ['is never ended', [], staySilent],
    ['becomes an error', [event({ type: 'error', error: { type: 'server_error', message: 'no' } })], end],
    ['becomes a page', ['<html>Welcome</html>\n\n'], end],
  ])(
    'one that %s after its beginning ends, told to its client, and costs no more than a whole one',
    async (_what, texts, then) => {
      const { id, key } = await customer()
      let goOn = (): void => undefined
      const reached = new Promise<void>((resolve) => (goOn = resolve))
      upstream.answer(
        begin([event(kind.first)], async (request, response) => {
          // What fails before its client has anything has not begun.
          await reached
          for (const text of texts) response.write(text)
          await then(request, response)
        }),
      )
      const answer = await open(name, key)
      goOn()
      const text = await textOf(answer)
      expect(text).toContain(JSON.stringify(kind.first))
      expect(/\|$|"error"|event: error/.test(text)).toBe(true)
      const paid = await paidBy(id)
      expect([0n, kind.price]).toContain(paid)
      expect(await gateway.lastLog()).toMatchObject({ amount: paid })
    },
  )

  test.each<[string, readonly string[], Answerer]>([
    ['says nothing more', [event(kind.first), event(kind.last)], staySilent],
    ['says comments', [event(kind.first), event(kind.last)], repeat(`: ${'x'.repeat(1_000)}\n\n`)],
    ['says all at once and nothing more', [event(kind.first) + event(kind.last)], staySilent],
  ])(
    'one whose vendor %s after its end is over for its client, and paid once',
    async (_what, texts, then) => {
      const { id, key } = await customer()
      upstream.answer(begin(texts, then))
      await textOf(await open(name, key))
      expect(await paidBy(id)).toBe(kind.price)
    },
  )

  test('one whose vendor says its end a thousand times is not charged for all of them [D-images-44]', async () => {
    const { id, key } = await customer()
    upstream.answer(begin([event(kind.first), event(kind.last)], repeat(event(kind.last))))
    await textOf(await open(name, key))
    expect(await paidBy(id)).toBe(name === 'images' ? IMAGES_MAX * kind.price : kind.price)
  })

  test('one of comments alone costs nothing, however long its client waits for more', async () => {
    const { id, key } = await customer()
    const leaving = new AbortController()
    let sent = 0
    upstream.answer((request, response) => {
      const { write } = response
      response.write = ((...given: Parameters<typeof write>) => {
        sent += 1
        // Enough to fill whatever holds an answer back.
        if (sent === 20_000) leaving.abort()
        return write.apply(response, given)
      }) as typeof write
      return begin([], repeatForEver(`: ${'x'.repeat(1_000)}\n\n`))(request, response)
    })
    await open(name, key, leaving.signal).then(textOf, () => 'left')
    const left = { accountId: id }
    await vi.waitFor(async () => expect(await gateway.lastLog()).toMatchObject(left), PATIENCE_MS)
    // Whoever leaves before an answer begins pays for what may have been made.
    expect([0n, kind.price]).toContain(await paidBy(id))
  })
})
