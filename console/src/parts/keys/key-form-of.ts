/** Types shared by the forms of keys. */
import type { UseFormReturnType } from '@mantine/form'
import type { KeyValues } from './key-values.ts'

/** The members of the form that its fields need. */
export type KeyFormOf = Pick<
  UseFormReturnType<KeyValues>,
  'values' | 'getInputProps' | 'insertListItem' | 'removeListItem'
>
