import { expect, test } from 'vitest'
import { vertexEmbeddings } from './embeddings.ts'

const { rewrite } = vertexEmbeddings

test('each text is an instance, and what holds for all stands beside them [D-embeddings-19]', () => {
  expect(
    rewrite?.request({
      model: 'text-embedding-005',
      input: ['one', 'two'],
      dimensions: 2,
      task_type: 'RETRIEVAL_QUERY',
      encoding_format: 'base64',
      user: 'me',
    }),
  ).toEqual({
    body: {
      instances: [
        { content: 'one', task_type: 'RETRIEVAL_QUERY' },
        { content: 'two', task_type: 'RETRIEVAL_QUERY' },
      ],
      parameters: { outputDimensionality: 2 },
    },
    dropped: ['user'],
    context: { model: 'text-embedding-005', base64: true },
  })
})

const predicted = (values: readonly number[], tokens?: number) => ({
  embeddings: { values, ...(tokens === undefined ? {} : { statistics: { token_count: tokens } }) },
})

test.each([
  ['numbers, and tokens summed up', false, [1, 2], { usage: { prompt_tokens: 3, total_tokens: 3 } }],
  ['no tokens where one tells none', false, [1, undefined], {}],
  ['base64', true, [1, 2], { usage: { prompt_tokens: 3, total_tokens: 3 } }],
])('vectors come as %s', (_what, base64, tokens, told) => {
  const predictions = tokens.map((count) => predicted([0.5, -1], count))
  const embedding = base64 ? 'AAAAPwAAgL8=' : [0.5, -1]
  expect(rewrite?.answer({ predictions }, { model: 'mine', base64 })).toEqual({
    object: 'list',
    data: [
      { object: 'embedding', index: 0, embedding },
      { object: 'embedding', index: 1, embedding },
    ],
    model: 'mine',
    ...told,
  })
})

test('what holds no predictions is no answer', () => {
  expect(rewrite?.answer({ error: 'none' }, {})).toBeUndefined()
})
