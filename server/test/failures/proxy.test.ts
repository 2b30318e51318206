import { expect, test } from 'vitest'
import { postJson } from '../gateway/client.ts'
import { openGateway, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerOk, openScriptedUpstream } from '../gateway/scripted-upstream.ts'
import { openConnectProxy } from '../../src/upstream/testing/connect-proxy.ts'

test('a gateway behind a proxy reaches its vendors by it, and those of NO_PROXY without', async () => {
  const far = await openScriptedUpstream()
  const near = await openScriptedUpstream()
  for (const upstream of [far, near]) upstream.answer(answerOk({ prompt_tokens: 1, completion_tokens: 1 }))
  const proxy = await openConnectProxy(Number(new URL(far.url).port))
  const gateway = await openGateway({
    environment: { HTTP_PROXY: `user:word@${proxy.host}`, no_proxy: 'inside.invalid, 127.0.0.0/8' },
  })
  try {
    await gateway.catalogue(
      ...putVendor('far', 'http://models.invalid/v1'),
      ...putVendor('near', `${near.url}/v1`),
      ...['far', 'near'].flatMap((name) => [putModel(name), putChain({ model: name, vendor: name })]),
    )
    for (const model of ['far', 'near']) {
      const body = { model, messages: [{ role: 'user', content: 'hi' }] }
      const authorization = `Bearer ${gateway.key}`
      const answer = await postJson(`${gateway.baseUrl}/v1/chat/completions`, body, { authorization })
      expect(answer.status).toBe(200)
    }
    expect(proxy.asked).toEqual([
      {
        authority: 'models.invalid:80',
        authorization: `Basic ${Buffer.from('user:word').toString('base64')}`,
      },
    ])
    expect([far.requests.length, near.requests.length]).toEqual([1, 1])
  } finally {
    await gateway.close()
    for (const thing of [far, near, proxy]) await thing.close()
  }
})
