import type { AccountKey, MadeKey } from '../../api/operator/accounts.ts'
import { useActionsColumn } from '../../parts/lists/columns.tsx'
import type { Column } from '../../parts/lists/data-table.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { KeyName } from '../parts/key-name.tsx'
import { AccountKeyActions } from './account-key-actions.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

interface KeyColumnsOf<Key extends AccountKey> {
  readonly accountOf: (key: Key) => string
  readonly onEdit: (key: Key) => void
  readonly onReady: (made: MadeKey) => void
}

/** Columns shared by the list of one account's keys and the list of all keys. */
export function useKeyColumns<Key extends AccountKey>({
  accountOf,
  onEdit,
  onReady,
}: KeyColumnsOf<Key>): Readonly<Record<'name' | 'expires' | 'actions', Column<Key>>> {
  const { t } = useTranslation()
  const format = useFormat()
  return {
    name: { id: 'name', head: t('keys.name'), cell: (key) => <KeyName of={key} /> },
    expires: {
      id: 'expires',
      head: t('keys.expires'),
      kind: 'muted',
      wide: true,
      cell: ({ expires_at: at }) => (at === null ? t('keys.never') : format.date(at)),
    },
    actions: useActionsColumn<Key>((key) => (
      <AccountKeyActions account={accountOf(key)} of={key} onEdit={() => onEdit(key)} onReady={onReady} />
    )),
  }
}
