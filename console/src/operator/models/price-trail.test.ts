import { expect, test } from 'vitest'
import { priceChangesIn } from './price-trail.ts'

const entry = (
  action: string,
  subject: string,
  changes: { field: string; from?: unknown; to?: unknown }[],
) => ({
  action,
  subject,
  changes,
})

test.each([
  [
    'a change of the model names whole price lists',
    entry('model.change', 'm', [
      { field: 'name', from: 'a', to: 'b' },
      {
        field: 'pricing',
        from: { input_price: 1, output_price: 2 },
        to: { input_price: 3, output_price: 2 },
      },
    ]),
    [{ field: 'input_price', from: 1, to: 3 }],
  ],
  [
    'prices of one model taken over',
    entry('price.import', 'm', [
      { field: 'effective_at', from: null, to: 'at once' },
      { field: 'output_price', from: 2, to: 4 },
    ]),
    [{ field: 'output_price', from: 2, to: 4 }],
  ],
  [
    'of several',
    entry('price.import', 'prices', [
      { field: 'price m: output_price', from: 2, to: 4 },
      { field: 'price other: output_price', from: 2, to: 5 },
    ]),
    [{ field: 'output_price', from: 2, to: 4 }],
  ],
  [
    'what is only planned did not change anything',
    entry('price.import', 'm', [
      { field: 'effective_at', from: null, to: '2030-01-01T00:00:00Z' },
      { field: 'output_price', from: 2, to: 4 },
    ]),
    [],
  ],
])('%s', (_, one, expected) => {
  expect(priceChangesIn(one, 'm')).toEqual(expected)
})
