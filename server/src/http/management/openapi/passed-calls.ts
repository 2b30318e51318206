/** Calls of wire forms that nothing converts: one entry each. */
import { CALL_ERROR } from './answers/errors.ts'
import { type DescribedCall, GENERATING, list, MODEL, object, open, text, whole } from './call-words.ts'

export const PASSED_CALLS: readonly DescribedCall[] = [
  {
    method: 'post',
    path: '/v1/embeddings',
    tag: 'Calls',
    summary: 'Make vectors out of texts',
    description:
      'Passed on as it is, and back: `dimensions` and `encoding_format` mean what they mean to the provider of the model. Input is charged, output is not.',
    request: open(
      {
        model: MODEL,
        input: {
          anyOf: [text, list(text), list(whole), list(list(whole))],
          description: 'A text, texts, or the same as numbers of tokens.',
        },
        dimensions: whole,
        encoding_format: { enum: ['float', 'base64'] },
        user: text,
      },
      ['model', 'input'],
    ),
    answer: open(
      {
        object: { const: 'list' },
        data: list(
          open({ object: text, index: whole, embedding: { anyOf: [list({ type: 'number' }), text] } }, [
            'embedding',
          ]),
        ),
        model: MODEL,
        usage: open({ prompt_tokens: whole, total_tokens: whole }),
      },
      ['data', 'model'],
    ),
    error: CALL_ERROR,
    codes: GENERATING,
  },
  {
    method: 'post',
    path: '/v1/moderations',
    tag: 'Calls',
    summary: 'Judge texts and pictures',
    description:
      'Passed on as it is, and back. `model` has to be named. Mostly charged by the call, whatever the length of the input.',
    request: open(
      {
        model: MODEL,
        input: {
          anyOf: [text, list(text), list(object)],
          description:
            'A text, texts, or parts of one message: `{type: text, text}`, `{type: image_url, image_url: {url}}`.',
        },
      },
      ['model', 'input'],
    ),
    answer: open({ id: text, model: MODEL, results: list(open({ flagged: { type: 'boolean' } })) }, [
      'results',
    ]),
    error: CALL_ERROR,
    codes: GENERATING,
  },
]
