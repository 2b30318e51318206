/** Which request line leads to which kind of call, and what it asks for there. */
import { describe, expect, test } from 'vitest'
import { FILE_PATH } from '../../pipeline/kinds/video.ts'
import { CALLS } from '../management/openapi/calls.ts'
import { KINDS } from '../../pipeline/kinds/index.ts'
import { matchCallPath } from './call-paths.ts'

function lead(line: string) {
  const [method = '', target = ''] = line.split(' ')
  const [path = '', query = ''] = target.split('?')
  const match = matchCallPath(method, path, query)
  if (match.kind !== 'call') return match
  const { endpoint, asked } = match
  return { ...endpoint, kind: endpoint.kind.id, action: asked.action, values: asked.values }
}

describe('a request line leads to its kind', () => {
  test.each([
    ['POST /v1/chat/completions', 'generate', 'chat'],
    ['POST /v1/responses', 'generate', 'responses'],
    ['POST /v1/messages', 'generate', 'messages'],
    ['POST /v1beta/models/a:generateContent', 'generate', 'gemini'],
    ['POST /v1beta/models/a:streamGenerateContent', 'generate', 'gemini'],
    ['POST /v1/embeddings', 'embeddings', 'embeddings'],
    ['POST /v1beta/models/a:embedContent', 'gemini-embeddings', 'gemini-embeddings'],
    ['POST /v1beta/models/a:batchEmbedContents', 'gemini-embeddings', 'gemini-embeddings'],
    ['POST /v1/moderations', 'moderation', 'moderation'],
    ['POST /v1/rerank', 'rerank', 'rerank'],
    ['POST /v1/images/generations', 'images', 'images'],
    ['POST /v1/images/edits', 'images', 'images'],
    ['POST /v1/images/variations', 'images', 'images'],
    ['POST /v1/audio/transcriptions', 'transcription', 'transcription'],
    ['POST /v1/audio/translations', 'transcription', 'transcription'],
    ['POST /v2/rerank', 'rerank', 'rerank'],
    ['POST /v1/responses/input_tokens', 'count', 'responses'],
    ['POST /v1/messages/count_tokens', 'count', 'messages'],
    ['POST /v1beta/models/a:countTokens', 'count', 'gemini'],
    ['GET /v1/responses/resp_1', 'stored', 'responses'],
    ['DELETE /v1/responses/resp_1', 'stored', 'responses'],
    ['GET /v1/responses/resp_1/input_items', 'stored', 'responses'],
    ['POST /v1/responses/resp_1/cancel', 'stored', 'responses'],
    ['POST /v1/videos', 'video', 'video'],
    ['GET /v1/videos', 'video', 'video'],
    ['HEAD /v1/videos', 'video', 'video'],
    ['GET /v1/videos/video_1', 'video', 'video'],
    ['HEAD /v1/videos/video_1', 'video', 'video'],
    ['DELETE /v1/videos/video_1', 'video', 'video'],
    ['GET /v1/videos/video_1/content', 'video', 'video'],
    ['HEAD /v1/videos/video_1/content', 'video', 'video'],
    ['GET /media/videos/abc.mp4', 'video', 'video'],
  ])('%s: %s over %s', (line, kind, protocol) => {
    expect(lead(line)).toMatchObject({ kind, protocol })
  })
})

describe('what the path says', () => {
  test.each([
    ['POST /v1beta/models/org%2Fname:generateContent', { pathModel: 'org/name', streamVerb: false }],
    ['POST /v1beta/models/org/name:streamGenerateContent', { pathModel: 'org/name', streamVerb: true }],
    ['POST /v1beta/models/a:b:generateContent', { pathModel: 'a:b' }],
    ['POST /v1beta/models/a:streamGenerateContent', { eventStream: false }],
    ['POST /v1beta/models/a:streamGenerateContent?alt=sse', { eventStream: true }],
    ['POST /v1/chat/completions', { eventStream: true, streamVerb: undefined, pathModel: undefined }],
    [
      'GET /v1/responses/resp_1',
      { action: 'response', values: { id: 'resp_1' }, path: '/v1/responses/resp_1' },
    ],
    ['GET /v1/videos/v', { action: 'read', values: { video_id: 'v' }, path: '/v1/videos/{video_id}' }],
    ['GET /media/videos/a.mp4', { values: { file: 'videos/a.mp4' }, path: '/media/{file}' }],
    ['POST /v1beta/models/a:generateContent', { path: '/v1beta/models/{model}:generateContent' }],
  ])('%s', (line, said) => {
    expect(lead(line)).toMatchObject(said)
  })
})

describe('another method is refused with the methods of the path', () => {
  test.each([
    ['GET /v1/chat/completions', 'POST'],
    ['GET /v1/responses/input_tokens', 'POST'],
    ['PUT /v1/responses/resp_1', 'GET, DELETE'],
    ['POST /v1/responses/resp_1/input_items', 'GET'],
    ['HEAD /v1/responses/resp_1', 'GET, DELETE'],
    ['PUT /v1/videos', 'GET, POST'],
    ['PUT /v1/videos/video_1', 'GET, DELETE'],
    ['POST /v1/videos/video_1/content', 'GET, HEAD'],
    ['POST /media/videos/a.mp4', 'GET, HEAD'],
  ])('%s: %s', (line, allow) => {
    expect(lead(line)).toEqual({ kind: 'wrong-method', allow })
  })
})

describe('everything else is no call', () => {
  test.each([
    'GET /',
    'POST /v1/responses/compact',
    'POST /v1beta/models/a:predict',
    'POST /v1beta/models/:generateContent',
    'POST /v1beta/models/%E0%A4%A:generateContent',
    'GET /v1/responses/%zz',
    'GET /v1/responses/a/b/c',
    'GET /v1/videos/video_1/other',
    'GET /v1/videos/',
    'GET /media/../secret',
    'GET /media/videos/',
    'POST /v1/chat/completions/',
  ])('%s', (line) => {
    expect(lead(line)).toEqual({ kind: 'other' })
  })
})

test.each(KINDS.flatMap(({ paths }) => paths).filter(({ path }) => !path.startsWith(FILE_PATH)))(
  '$path is described in the API reference',
  ({ path, methods }) => {
    const described = CALLS.filter((call) => call.path.replace('{response_id}', '{id}') === path)
    expect(described.map(({ method }) => method.toUpperCase())).toEqual(
      expect.arrayContaining(methods.filter((method) => method !== 'HEAD')),
    )
  },
)

test('no two kinds have one path and method', () => {
  const lines = KINDS.flatMap(({ paths }) =>
    paths.flatMap(({ methods, path }) => methods.map((method) => `${method} ${path}`)),
  )
  expect(lines).toHaveLength(new Set(lines).size)
})
