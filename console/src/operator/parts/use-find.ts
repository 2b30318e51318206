import { useDebouncedValue } from '@mantine/hooks'
import { useAddress } from './use-address.ts'

/** Ms without typing before the search begins. */
const TYPING_MS = 200

/** What the list is searched for: `find` of the address, when nobody types any more; undefined: for nothing. */
export function useFind(): string | undefined {
  const [{ find }] = useAddress()
  const [text] = useDebouncedValue(find?.trim(), TYPING_MS)
  return text === '' ? undefined : text
}
