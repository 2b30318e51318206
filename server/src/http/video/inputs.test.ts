/** Images in the form a vendor takes: fetched where it wants bytes, published where it wants addresses (contract §4.4). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../../../test/house/client.ts'
import { type House, openHouse, putChain, putModel, putVendor } from '../../../test/house/house.ts'
import {
  answerJson,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../../test/house/scripted-upstream.ts'
import { creates, filmOf, PNG, playSora, VIDEO_PRICES } from '../../../test/house/videos.ts'

let house: House
let sora: ScriptedUpstream
let luma: ScriptedUpstream
let images: ScriptedUpstream

beforeAll(async () => {
  sora = await openScriptedUpstream()
  luma = await openScriptedUpstream()
  images = await openScriptedUpstream()
  house = await openHouse({ environment: { SLUICE_FETCH_ALLOW: '127.0.0.1/32' } })
  await house.catalogue(
    ...putVendor('sora', sora.url, { kind: 'openai-compatible' }),
    ...putVendor('luma', `${luma.url}/dream-machine/v1`, { kind: 'luma-dream-machine' }),
    putModel('sora-2', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'sora-2', vendor: 'sora', protocol: 'video', forward: 'sora-2' }),
    putModel('ray', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'ray', vendor: 'luma', protocol: 'video', forward: 'ray-2' }),
  )
})
afterAll(async () => {
  await house.close()
  await sora.close()
  await luma.close()
  await images.close()
})
beforeEach(() => {
  for (const server of [sora, luma, images]) server.requests.length = 0
  playSora(sora, filmOf(1))
  images.answer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' })
    response.end(PNG)
  })
})

function post(body: Record<string, unknown>): Promise<Answer> {
  return postJson(
    `${house.baseUrl}/v1/videos`,
    { prompt: 'a cat', ...body },
    { authorization: `Bearer ${house.key}` },
  )
}

describe('a vendor that wants bytes', () => {
  test('[4.4-29] gets those behind a public URL, as the image they are', async () => {
    const answer = await post({ model: 'sora-2', input_reference: `${images.url}/cat` })
    expect(answer.status).toBe(200)
    const [create] = creates(sora)
    expect(create?.body.includes(PNG)).toBe(true)
    expect(create?.body.toString('latin1')).toContain('image/png')
    expect(images.requests).toHaveLength(1)
  })

  test.each([
    ['is no image', () => answerJson({ not: 'an image' }), /cat/],
    ['is not there', () => answerJson('', 404), /404/],
  ])('is not asked when what lies there %s: 400/40000 says why', async (_name, answerer, said) => {
    images.answer(answerer())
    const answer = await post({ model: 'sora-2', input_reference: `${images.url}/cat` })
    expect(answer).toMatchObject({ status: 400, body: { code: 40000 } })
    expect(answer.body.message).toMatch(said)
    expect(creates(sora)).toHaveLength(0)
  })

  test('does not make us look into the operator’s network', async () => {
    const answer = await post({ model: 'sora-2', input_reference: 'http://169.254.169.254/latest' })
    expect(answer).toMatchObject({ status: 400, body: { code: 40000 } })
  })
})

describe('a vendor that wants addresses', () => {
  test('gets a signed link of ours to the bytes, which is gone when the task has ended', async () => {
    let link = ''
    luma.answer(async (request, response) => {
      if (request.method === 'POST') {
        const { keyframes } = request.json() as { keyframes: { frame0: { url: string } } }
        link = keyframes.frame0.url
        const fetched = await fetch(link)
        expect(Buffer.from(await fetched.arrayBuffer())).toEqual(PNG)
        expect(fetched.headers.get('content-type')).toBe('image/png')
        return answerJson({ id: 'gen-1', state: 'queued' }, 201)(request, response)
      }
      return answerJson({ id: 'gen-1', state: 'failed', failure_reason: 'no luck' })(request, response)
    })
    const answer = await post({
      model: 'ray',
      input_reference: `data:image/png;base64,${PNG.toString('base64')}`,
    })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(link.startsWith(`${house.baseUrl}/media/`)).toBe(true)
    await house.settled()
    expect((await fetch(link)).status).toBe(404)
  })
})
