/** An order without an answer, at a vendor that can be asked by our own id. */
import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'
import { creates, VIDEO_PRICES } from '../gateway/videos.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const LINK = 'https://videos.example/one.mp4'

const { gateway, kling } = await withGateway({
  upstreams: ['kling'],
  catalogue: ({ kling }) => [
    ...putVendor('kling', kling.url, { kind: 'kling' }),
    putModel('kling', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'kling', vendor: 'kling', protocol: 'video', forward: 'kling-v2-6' }),
  ],
})
beforeEach(() => {
  kling.requests.length = 0
})

function post(): Promise<Answer> {
  return postJson(
    `${gateway.baseUrl}/v1/videos`,
    { model: 'kling', prompt: 'a cat', seconds: '5' },
    { authorization: `Bearer ${gateway.key}` },
  )
}

/** Takes the order and hangs up; what it says when it is asked for it afterwards. */
function lose(answers: readonly unknown[]): void {
  let asked = 0
  kling.answer((request, response) => {
    if (request.method === 'POST') {
      response.destroy()
      return undefined
    }
    const answer = answers[Math.min(asked, answers.length - 1)]
    asked += 1
    return answerJson(answer)(request, response)
  })
}

const NOT_FOUND = { code: 1203, message: 'no such task', request_id: 'r' }
const taskOf = (status: string, videos: readonly unknown[] = []) => ({
  code: 0,
  data: { task_id: 'up-1', task_status: status, task_result: { videos } },
})

describe('an order that got no answer', () => {
  test('goes on when a later poll finds it [D-video-23]', async () => {
    lose([NOT_FOUND, taskOf('processing'), taskOf('succeed', [{ id: 'v', url: LINK, duration: '5.1' }])])
    const answer = await post()
    expect(answer).toMatchObject({ status: 200, body: { status: 'completed', url: LINK } })
    expect(creates(kling)).toHaveLength(1)
    const [search] = kling.requests.filter(({ method }) => method === 'GET')
    expect(search?.path).toContain(String(answer.body['id']))
    expect((await gateway.lastLog()).secondsProduced).toBe(5.1)
  })

  test('is 504/50401 when nothing is found in time, and is not sent again [D-video-22] [D-video-24]', async () => {
    const before = (await gateway.account()).credits
    lose([NOT_FOUND])
    const answer = await post()
    expect(answer).toMatchObject({ status: 504, body: { code: 50401 } })
    expect(answer.headers.get('x-should-retry')).toBe('false')
    expect(creates(kling)).toHaveLength(1)
    expect((await gateway.account()).credits).toBe(before)
  })
})
