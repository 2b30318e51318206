/** `POST /v1/videos` from the client's side, against a vendor that is polled and hands out public links (contract §4.4). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, get, postJson } from '../../../test/house/client.ts'
import { type House, openHouse, putChain, putModel, putVendor } from '../../../test/house/house.ts'
import {
  answerJson,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../../test/house/scripted-upstream.ts'
import { VIDEO_PRICES } from '../../../test/house/videos.ts'

let house: House
let vendor: ScriptedUpstream

beforeAll(async () => {
  vendor = await openScriptedUpstream()
  house = await openHouse()
  await house.catalogue(
    ...putVendor('ark', vendor.url, { kind: 'ark' }),
    putModel('seedance', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'seedance', vendor: 'ark', protocol: 'video', forward: 'doubao-seedance-1-0-pro' }),
  )
})
afterAll(async () => {
  await house.close()
  await vendor.close()
})
beforeEach(() => {
  vendor.requests.length = 0
})

const LINK = 'https://films.example/one.mp4'

function post(body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return postJson(`${house.baseUrl}/v1/videos`, body, { authorization: `Bearer ${house.key}`, ...headers })
}

describe('a synchronous order', () => {
  test('[1-07] [3-06] [3-07] [4.4-34] is answered when the vendor has finished', async () => {
    vendor.script(
      answerJson({ id: 'cgt-1' }),
      answerJson({ id: 'cgt-1', status: 'queued' }),
      answerJson({ id: 'cgt-1', status: 'running' }),
      answerJson({ id: 'cgt-1', status: 'succeeded', content: { video_url: LINK }, duration: 5 }),
    )
    const answer = await post({
      model: 'seedance',
      prompt: 'a cat on the moon',
      seconds: '5',
      size: '1280x720',
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ object: 'video', status: 'completed', url: LINK, seconds: '5' })
    expect(vendor.requests).toHaveLength(4)
    const read = await get(`${house.baseUrl}/v1/videos/${String(answer.body['id'])}`, {
      authorization: `Bearer ${house.key}`,
    })
    expect(read.body).toEqual(answer.body)
    const log = await house.lastLog()
    expect(log).toMatchObject({ httpStatus: 200, secondsDeclared: 5, secondsProduced: 5 })
  })
})
