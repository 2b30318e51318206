/**
 * The whole gateway killed with -9 at every step of a video's making and started again: the client repeats its POST and
 * gets its video, which the vendor made once and which is billed once.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMigratedDatabase, type FreshDatabase } from '../postgres/fresh-database.ts'
import { buildPrograms } from '../processes/programs.ts'
import { openS3Server, type S3Server } from '../s3/server.ts'
import { type GatewayProcess, sluice, startProcess } from './processes.ts'
import { type Moment, openVendor, type Vendor } from './vendor.ts'

const KEY = 'sk-gateway-video-0000000000000000000000000000'
/** 4 seconds at half a yuan, 1 000 Credits a yuan. */
const PRICE = 2_000
const OPENING = 100_000

beforeAll(buildPrograms)

describe.each([
  { engine: 'SQLite', blobs: 'a disk', instances: 1 },
  { engine: 'PostgreSQL', blobs: 'S3', instances: 2 },
])('$instances on $engine and $blobs', ({ engine, blobs, instances }) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-survival-'))
  let vendor: Vendor
  let database: FreshDatabase | undefined
  let objects: S3Server | undefined
  let environment: Readonly<Record<string, string>>
  let processes: readonly GatewayProcess[] = []
  let generation = 0
  let charged = 0

  /** The generation before is gone; every instance of the next one takes part. */
  async function start(): Promise<void> {
    generation += 1
    processes = await Promise.all(
      Array.from({ length: instances }, () => startProcess(environment, generation)),
    )
  }

  async function killAll(): Promise<void> {
    await Promise.all(processes.map((one) => one.kill()))
  }

  beforeAll(async () => {
    vendor = await openVendor()
    if (engine === 'PostgreSQL') database = await createMigratedDatabase()
    if (blobs === 'S3') objects = await openS3Server()
    environment = {
      SLUICE_DATA_DIR: dataDir,
      ...(database !== undefined && { SLUICE_DATABASE_URL: database.url }),
      ...(objects !== undefined && { SLUICE_BLOB_URL: objects.url }),
    }
    await sluice(environment, ['apply', '-f', '-'], gatewayFile(vendor.url))
    await start()
  }, 180_000)
  afterAll(async () => {
    await killAll()
    await vendor.close()
    await database?.drop()
    await objects?.close()
    rmSync(dataDir, { recursive: true })
  })

  /** Repeats as clients do, until there is an answer that says not to. */
  async function order(body: object, key: string, first = 0): Promise<Response> {
    for (let tries = 0; tries < 100; tries += 1) {
      const { baseUrl } = processes[(first + tries) % processes.length] ?? { baseUrl: '' }
      const response = await fetch(`${baseUrl}/v1/videos`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${KEY}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({ prompt: 'a cat', seconds: '4', ...body }),
      })
      if (response.status < 500 || response.headers.get('x-should-retry') === 'false') return response
      await response.text()
    }
    throw new Error('the order was never answered')
  }

  async function strikeAt(moment: Moment, body: object, key: string): Promise<void> {
    const struck = new Promise<void>((resolve) => {
      vendor.at(moment, async () => {
        await killAll()
        resolve()
      })
    })
    const answered = order(body, key).then(
      async (response) => `${response.status} ${await response.text()}`,
      () => 'broken',
    )
    expect(await answered).toBe('broken')
    await struck
    await start()
  }

  async function expectLedger(): Promise<void> {
    expect(await sluice(environment, ['verify'])).toEqual({ differences: [], audit: 'whole' })
    expect(await sluice(environment, ['accounts', 'list'])).toMatchObject([
      { credits: String(OPENING - charged * PRICE), held_credits: '0' },
    ])
    const rows = (await sluice(environment, ['logs'])) as readonly { readonly deducted: string }[]
    expect(rows.filter(({ deducted }) => deducted !== '0')).toHaveLength(charged)
  }

  const PICTURE = () => ({ model: 'video', input_reference: { image_url: `${vendor.url}/picture.png` } })
  const VIDEO = () => ({ model: 'video' })
  test.each([
    { when: 'after the intent was written', moment: 'image', order: PICTURE, content: true },
    {
      when: 'after the order was sent',
      moment: 'ordered',
      order: () => ({ model: 'kling' }),
      content: false,
    },
    { when: 'while the vendor works', moment: 'polled', order: VIDEO, content: true },
    { when: 'while the video is fetched', moment: 'half the video', order: VIDEO, content: true },
    {
      when: 'before the end is booked',
      moment: 'the whole video',
      order: VIDEO,
      content: true,
    },
  ] as const)(
    'killed $when: the repeated POST gets the video, made once, billed once [D-video-12] [D-video-13] [D-video-14]',
    { timeout: 180_000 },
    async ({ moment, order: bodyOf, content: hasContent }) => {
      const orders = vendor.orders.length
      await strikeAt(moment, bodyOf(), moment)
      const [first, again] = await Promise.all([order(bodyOf(), moment), order(bodyOf(), moment, 1)])
      charged += 1
      expect([first.status, again.status]).toEqual([200, 200])
      const video = (await first.json()) as { readonly id: string }
      expect(video).toMatchObject({ object: 'video', status: 'completed', seconds: '4' })
      // A link of the gateway's own names the instance that was asked.
      expect(await again.json()).toEqual({ ...video, url: expect.any(String) })
      if (hasContent) expect((await content(processes.at(-1), video.id)).equals(vendor.video)).toBe(true)
      expect(vendor.orders.length - orders).toBe(1)
      await expectLedger()
    },
  )

  test('killed after a creation request was sent whose id is unknown: it is not sent again, and costs nothing', {
    timeout: 180_000,
  }, async () => {
    const orders = vendor.orders.length
    await strikeAt('ordered', VIDEO(), 'unknown')
    const answer = await order(VIDEO(), 'unknown')
    expect(answer.status).toBe(504)
    expect(await answer.json()).toMatchObject({ code: 50401 })
    expect(vendor.orders.length - orders).toBe(1)
    await expectLedger()
  })
})

/** The file as its owner downloads it, from any instance. */
async function content(gateway: GatewayProcess | undefined, id: string): Promise<Buffer> {
  if (gateway === undefined) throw new Error('no gateway runs')
  const response = await fetch(`${gateway.baseUrl}/v1/videos/${id}/content`, {
    headers: { authorization: `Bearer ${KEY}` },
  })
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}

function gatewayFile(url: string): string {
  const model = (id: string, vendor: string, forward: string) => ({
    model_id: id,
    name: id,
    support_features: ['video'],
    pricing: { billing_modes: ['video_second'], video_price: 0.5 },
    chains: [{ vendor, credential: 'main', protocol: 'video', forward_model_id: forward }],
  })
  const credentials = [{ name: 'main', secret: 'upstream-secret' }]
  return JSON.stringify({
    vendors: [
      { code: 'video', name: 'Video', kind: 'openai-compatible', base_url: `${url}/v1`, credentials },
      { code: 'kling', name: 'Kling', kind: 'kling', base_url: `${url}/kling`, credentials },
    ],
    models: [model('video', 'video', 'video-1'), model('kling', 'kling', 'kling-v2-6')],
    accounts: [
      {
        email: 'owner@example.com',
        credits: OPENING,
        api_deduction: true,
        keys: [{ name: 'test', secret: KEY }],
      },
    ],
  })
}
