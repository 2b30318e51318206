import { useDebouncedValue } from '@mantine/hooks'
import { useAddress } from './use-address.ts'

/** Ms without typing before the search begins. */
const TYPING_MS = 200

/** `find` of the address, trimmed and debounced; undefined: no search. */
export function useFind(): string | undefined {
  const [{ find }] = useAddress()
  const [text] = useDebouncedValue(find?.trim(), TYPING_MS)
  return text === '' ? undefined : text
}
