import type { Key, NewKey } from '../api/keys.ts'
import { Sheet } from '../parts/forms/dialog.tsx'
import { KeyForm } from './key-form.tsx'
import { useTranslation } from '../texts/use-translation.ts'

interface KeySheetProps {
  /** undefined: a new key. */
  readonly of: Key | undefined
  readonly opened: boolean
  readonly onClose: () => void
  readonly onMade: (made: NewKey) => void
}

/** The form of a key, beside the list. */
export function KeySheet({ of, opened, onClose, onMade }: KeySheetProps) {
  const { t } = useTranslation()
  return (
    <Sheet
      opened={opened}
      onClose={onClose}
      title={of === undefined ? t('keys.create') : t('keys.editTitle', { name: of.name })}
    >
      {opened && <KeyForm of={of} onClose={onClose} onMade={onMade} />}
    </Sheet>
  )
}
