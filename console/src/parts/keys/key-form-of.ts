/** What a form for keys is of. */
import type { UseFormReturnType } from '@mantine/form'
import type { KeyValues } from './key-values.ts'

/** What its parts need of the form. */
export type KeyFormOf = Pick<
  UseFormReturnType<KeyValues>,
  'values' | 'getInputProps' | 'insertListItem' | 'removeListItem'
>
