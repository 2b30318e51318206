import { Button } from '@mantine/core'
import { useState } from 'react'
import type { AccountKey, AnyAccount, MadeKey } from '../../api/operator/accounts.ts'
import sheet from '../../parts/forms/sheet.module.css'
import { usePolicyWords } from '../../parts/limits/use-policy-words.ts'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import { Icon } from '../../parts/marks/icon.tsx'
import { AccountKeyForm } from './account-key-form.tsx'
import { useKeyColumns } from './key-columns.tsx'
import { KeyOnce } from './key-once.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** The keys of an account, without secrets; a key that was just created shows its secret once. */
export function AccountKeys({ of }: { readonly of: AnyAccount }) {
  const { t } = useTranslation()
  const [editing, edit] = useState<AccountKey | 'new'>()
  const [made, show] = useState<MadeKey>()
  const columns = useColumns(of.id, { onEdit: edit, onReady: show })
  return (
    <section className={sheet.part}>
      <div className={sheet.partHead}>
        <h3>{t('pages.keys')}</h3>
        <Button
          variant="subtle"
          size="xs"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => edit('new')}
        >
          {t('keys.create')}
        </Button>
      </div>
      {of.keys.length === 0 ? (
        <p className={sheet.note}>{t('accounts.noKeys')}</p>
      ) : (
        <DataTable
          label={t('pages.keys')}
          rows={of.keys}
          idOf={({ id }) => id}
          isQuiet={({ status }) => status === 'disabled'}
          columns={columns}
        />
      )}
      {editing !== undefined && (
        <AccountKeyForm
          account={of.id}
          of={editing === 'new' ? undefined : editing}
          onClose={() => edit(undefined)}
          onMade={(key) => {
            edit(undefined)
            show(key)
          }}
        />
      )}
      {made !== undefined && <KeyOnce of={made} onClose={() => show(undefined)} />}
    </section>
  )
}

interface KeyActs {
  readonly onEdit: (key: AccountKey) => void
  readonly onReady: (made: MadeKey) => void
}

function useColumns(account: string, acts: KeyActs): readonly Column<AccountKey>[] {
  const { t } = useTranslation()
  const policyWords = usePolicyWords()
  const { name, expires, actions } = useKeyColumns<AccountKey>({ accountOf: () => account, ...acts })
  return [
    name,
    {
      id: 'limits',
      head: t('keys.limits'),
      kind: 'muted',
      cell: ({ status, policy }) => (status === 'disabled' ? t('keys.states.disabled') : policyWords(policy)),
    },
    expires,
    actions,
  ]
}
