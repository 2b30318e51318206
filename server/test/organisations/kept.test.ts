/** What calls of an organisation left behind: responses and videos are the key's that made them, and a member's for as long as they are one. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { get, postJson, readAnswer } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerOk } from '../gateway/scripted-upstream.ts'
import { openTeam, type Team, type TeamPerson } from '../gateway/team.ts'
import { sampleVideo, playSora, VIDEO_PRICES } from '../gateway/videos.ts'
import { withGateway } from '../gateway/with-gateway.ts'

let team: Team

const { gateway, upstream, studio } = await withGateway({
  upstreams: ['upstream', 'studio'],
  catalogue: ({ upstream, studio }) => [
    ...putVendor('acme', upstream.url),
    putModel('plain'),
    putChain({ model: 'plain', vendor: 'acme' }),
    ...putVendor('studio', studio.url, { kind: 'openai-compatible' }),
    putModel('video', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'video', vendor: 'studio', protocol: 'video', forward: 'sora-2' }),
  ],
})

beforeAll(async () => {
  upstream.answer(answerOk({ prompt_tokens: 10, completion_tokens: 5 }))
})
beforeEach(async () => {
  team = await openTeam(gateway)
  playSora(studio, sampleVideo(1))
})

interface Left {
  readonly key: string
  readonly response: string
  readonly video: string
}

/** A key of theirs with which one response and one video were made. */
async function leave(person: TeamPerson): Promise<Left> {
  const made = await person.act('POST', 'keys', { name: 'k', member: person.member })
  const { key } = made.body.data as { readonly key: string }
  const response = await ask(key, 'POST', '/v1/responses', { model: 'plain', input: 'a secret' })
  const video = await ask(key, 'POST', '/v1/videos', { model: 'video', prompt: 'a secret', seconds: '4' })
  expect([response.status, video.status]).toEqual([200, 200])
  await gateway.videosEnded()
  return { key, response: String(response.body['id']), video: String(video.body['id']) }
}

async function ask(key: string, method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${key}` }
  if (body !== undefined) return postJson(`${gateway.baseUrl}${path}`, body, headers)
  if (method === 'GET') return get(`${gateway.baseUrl}${path}`, headers)
  return readAnswer(await fetch(`${gateway.baseUrl}${path}`, { method, headers }))
}

type Touch = readonly [string, (left: Left) => readonly [method: string, path: string, body?: unknown]]

/** Everything that is answered from what is kept, without a reservation that would look at the member. */
const TOUCHES: readonly Touch[] = [
  ['reads the response', ({ response }) => ['GET', `/v1/responses/${response}`]],
  ['lists what the response was asked', ({ response }) => ['GET', `/v1/responses/${response}/input_items`]],
  ['deletes the response', ({ response }) => ['DELETE', `/v1/responses/${response}`]],
  ['reads the video', ({ video }) => ['GET', `/v1/videos/${video}`]],
  ['loads the video', ({ video }) => ['GET', `/v1/videos/${video}/content`]],
  ['deletes the video', ({ video }) => ['DELETE', `/v1/videos/${video}`]],
]
const CONTINUES: Touch = [
  'continues the response',
  ({ response }) => [
    'POST',
    '/v1/responses',
    { model: 'plain', input: 'on', previous_response_id: response },
  ],
]
/** What needs nothing kept, and no reservation either. */
const FREE: readonly Touch[] = [
  ['lists videos', () => ['GET', '/v1/videos']],
  ['counts tokens', () => ['POST', '/v1/responses/input_tokens', { model: 'plain', input: 'hi' }]],
  ['lists models', () => ['GET', '/v1/models']],
]

describe('what a member’s key left behind', () => {
  test('is there for that key', async () => {
    const left = await leave(team.member)
    for (const [, touch] of [...FREE, CONTINUES, ...TOUCHES]) {
      const [method, path, body] = touch(left)
      expect([path, (await ask(left.key, method, path, body)).status]).toEqual([path, 200])
    }
  })

  test('is not there for any other key of the organisation, not even its own', async () => {
    const left = await leave(team.member)
    const other = await team.join('member')
    const keys = [await leave(other), await leave(team.admin)].map(({ key }) => key)
    const own = await team.owner.act('POST', 'keys', { name: 'server' })
    for (const key of [...keys, (own.body.data as { readonly key: string }).key]) {
      for (const [what, touch] of TOUCHES) {
        const [method, path, body] = touch(left)
        expect([what, (await ask(key, method, path, body)).status]).toEqual([what, 404])
      }
      const [method, path, body] = CONTINUES[1](left)
      expect((await ask(key, method, path, body)).body.error).toMatchObject({ code: '40000' })
      const { body: list } = await ask(key, 'GET', '/v1/videos')
      expect(JSON.stringify(list)).not.toContain(left.video)
    }
  })

  test.each([
    { end: 'suspended', code: 40102, status: 401 },
    { end: 'removed', code: 40101, status: 401 },
    { end: 'suspended by an operator', code: 40303, status: 403 },
  ] as const)('is not there once the member is $end', async ({ end, code, status }) => {
    const person = await team.join('member')
    const left = await leave(person)
    switch (end) {
      case 'suspended':
        await team.owner.act('PATCH', `organisations/${team.id}/members/${person.member}`, { status: end })
        break
      case 'removed':
        await team.owner.act('DELETE', `organisations/${team.id}/members/${person.member}`)
        break
      case 'suspended by an operator':
        await gateway.storage.accounts.patch(person.id, { status: 'suspended' })
        break
    }
    for (const [what, touch] of [...TOUCHES, CONTINUES, ...FREE]) {
      const [method, path, body] = touch(left)
      const answer = await ask(left.key, method, path, body)
      expect([what, answer.status, answer.body.error]).toMatchObject([what, status, { code: String(code) }])
    }
  })
})
