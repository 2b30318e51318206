import { expect, test } from 'vitest'
import { clientsFor, firstToCall } from './snippets.ts'

const TALKS = { model_id: 'talker', endpoints: ['/v1/chat/completions', '/v1/messages'] }
const PAINTS = { model_id: 'painter', endpoints: ['/v1/images/generations', '/v1/images/edits'] }
const LISTENS = { model_id: 'listener', endpoints: ['/v1/audio/transcriptions'] }
const FACTS = { baseUrl: 'https://gateway.example', secret: 'sk-1' }

test.each([
  ['one that talks stands before one that was called later', [PAINTS, TALKS], TALKS],
  ['where none talks, the first is shown', [PAINTS, LISTENS], PAINTS],
  ['of none, none', [], undefined],
])('%s', (_, models, shown) => {
  expect(firstToCall(models)).toBe(shown)
})

test.each([
  ['a model that talks is called by every client', TALKS.endpoints, 6],
  ['one that nothing is known of, too', undefined, 6],
  ['images are made by curl and by OpenAI’s library', PAINTS.endpoints, 2],
  ['that library ranks nothing', ['/v1/rerank', '/v2/rerank'], 1],
])('%s', (_, endpoints, count) => {
  expect(clientsFor(endpoints)).toHaveLength(count)
})

test.each([
  ['messages', ['curl', 'Anthropic', 'Claude Code'], /\/v1\/messages .*"max_tokens":1024/s],
  ['responses', ['curl', 'OpenAI', 'Codex'], /\/v1\/responses .*"input":"Hello"/s],
  ['chat', ['curl', 'OpenAI'], /\/v1\/chat\/completions /],
  ['gemini', ['curl', 'Google'], /models\/talker:generateContent /],
])('a key that a group binds to %s is shown with clients that speak it', (protocol, labels, curl) => {
  const clients = clientsFor(TALKS.endpoints, protocol)
  expect(clients.map(({ label }) => label)).toEqual(labels)
  expect(clients[0]?.write({ ...FACTS, model: 'talker' })).toMatch(curl)
})

test('what a model thought before it answered is no answer to print', () => {
  const anthropic = clientsFor(TALKS.endpoints).find(({ id }) => id === 'anthropic')
  expect(anthropic?.write({ ...FACTS, model: 'talker' })).toMatch(/if part\.type == "text"\)\)$/)
})

test('a call goes to a path of the model, with what that endpoint takes', () => {
  const [curl, openAi] = clientsFor(PAINTS.endpoints)
  const text = curl?.write({ ...FACTS, model: 'painter' }) ?? ''
  expect(text).toMatch(/^curl https:\/\/gateway\.example\/v1\/images\/generations /)
  expect(JSON.parse(/-d '(.*)'$/s.exec(text)?.[1] ?? '')).toEqual({
    model: 'painter',
    prompt: 'A gate over a wave',
  })
  expect(openAi?.write({ ...FACTS, model: 'painter' })).toContain(
    'client.images.generate(\n    model="painter",\n    prompt="A gate over a wave",\n)',
  )
  expect(clientsFor(LISTENS.endpoints)[0]?.write({ ...FACTS, model: 'listener' })).toContain(
    '-F model=listener -F file=@speech.mp3',
  )
})
