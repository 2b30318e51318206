import { expect, test } from 'vitest'
import { curlOf } from './same-call.ts'

const BASE = 'https://gateway.example'
const call = (client_protocol: string, endpoint: string, model = 'glm-5') => ({
  client_protocol,
  endpoint,
  model,
  model_requested: model,
  stream: false,
})

test.each([
  [
    'of the Gemini protocol, with the model in the path',
    call('gemini', '/v1beta/models/{model}:generateContent'),
    /^curl https:\/\/gateway\.example\/v1beta\/models\/glm-5:generateContent .*-d '\{"contents":/s,
  ],
  [
    'that made vectors, with a text',
    call('embeddings', '/v1/embeddings'),
    /embeddings .*"model": "glm-5",\n {4}"input": "Hello"/s,
  ],
  [
    'that made vectors in the Gemini protocol',
    call('gemini-embeddings', '/v1beta/models/{model}:embedContent'),
    /models\/glm-5:embedContent .*-d '\{\n {4}"content": /s,
  ],
  [
    'that changed a picture, as a form',
    call('images', '/v1/images/edits'),
    /edits .*-F model=glm-5 -F 'prompt=A gate over a wave' -F image=@picture\.png$/s,
  ],
  [
    'that translated a recording, as a form',
    call('transcription', '/v1/audio/translations'),
    /translations .*-F model=glm-5 -F file=@speech\.mp3$/s,
  ],
  [
    'that ranked, at its own path',
    call('rerank', '/v1/rerank'),
    /\/v1\/rerank .*"documents": \["Good morning"/s,
  ],
  ['of a video', call('video', '/v1/videos'), /\/v1\/videos .*"seconds": "5"/s],
  [
    'of a model with a quotation mark in its name, which stays one word',
    call('chat', '/v1/chat/completions', "o'1"),
    /"model":"o'\\''1"/,
  ],
])('a call %s, is copied as a line that makes it again', (_, made, text) => {
  expect(curlOf(made, BASE)).toMatch(text)
})

test('what nobody knows the body of is not copied', () => {
  expect(curlOf(call('gemini-embeddings', '/v1beta/models/{model}:batchEmbedContents'), BASE)).toBeUndefined()
})
