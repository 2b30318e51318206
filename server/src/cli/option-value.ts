import type { Read } from '../config/gateway-file/map-reader.ts'
import { readValue } from '../config/gateway-file/read-value.ts'
import { CommandFailure } from './exit-codes.ts'

/** The value of an option in the gateway file's form; undefined if it was not given. */
export function optionValue<Value>(
  option: string,
  text: string | undefined,
  read: Read<Value>,
): Value | undefined {
  if (text === undefined) return undefined
  const result = readValue(text, read)
  if (result.kind === 'value') return result.value
  throw new CommandFailure(
    'mistakes',
    `${option} ${result.mistakes.map((mistake) => mistake.message.text).join(', ')}`,
  )
}
