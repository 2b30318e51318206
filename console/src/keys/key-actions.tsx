import { useQueryClient } from '@tanstack/react-query'
import { changeKey, deleteKey, type Key, type NewKey, rotateKey } from '../api/keys.ts'
import { useOrganisationId } from '../api/session.ts'
import { KeyActs } from '../parts/keys/key-acts.tsx'
import { RowAction } from '../parts/lists/columns.tsx'
import { useTranslation } from '../texts/use-translation.ts'

interface KeyActionsProps {
  readonly of: Key
  readonly onEdit: () => void
  readonly onReady: (made: NewKey) => void
}

/** The actions of a key: one button, the rest in a menu. */
export function KeyActions({ of, onEdit, onReady }: KeyActionsProps) {
  const { t } = useTranslation()
  const organisation = useOrganisationId()
  const queryClient = useQueryClient()
  return (
    <KeyActs
      of={of}
      acts={{
        setStatus: (status) => changeKey(of.id, { status }, organisation),
        remove: () => deleteKey(of.id, organisation),
        rotate: (overlap) => rotateKey(of.id, overlap, organisation),
        renew: () => queryClient.invalidateQueries({ queryKey: ['keys'] }),
      }}
      atHand={(ask) => (
        <RowAction onHover onClick={() => ask('rotate')}>
          {t('keys.rotate')}
        </RowAction>
      )}
      onEdit={onEdit}
      onReady={onReady}
    />
  )
}
