import type { AccountRow } from '../../api/operator/accounts.ts'
import { State } from '../../parts/marks/state.tsx'
import tags from '../../parts/marks/tag.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

export function AccountState({ of: { status } }: { readonly of: Pick<AccountRow, 'status'> }) {
  const { t } = useTranslation()
  return status === 'suspended' ? (
    <State icon="paused" tone="bad">
      {t('accounts.states.suspended')}
    </State>
  ) : (
    <State icon="done" tone="good">
      {t('accounts.states.active')}
    </State>
  )
}

/** The kind of account, unless it is a plain customer. */
export function AccountTags({ of: { kind, role } }: { readonly of: Pick<AccountRow, 'kind' | 'role'> }) {
  const { t } = useTranslation()
  return (
    <>
      {kind === 'organisation' && <span className={tags.tag}>{t('accounts.kinds.organisation')}</span>}
      {role === 'admin' && <span className={tags.tag}>{t('accounts.roles.admin')}</span>}
    </>
  )
}
