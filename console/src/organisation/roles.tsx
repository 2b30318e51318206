import type { Role } from '../api/organisations.ts'
import forms from '../parts/forms/form.module.css'
import { useTranslation } from '../texts/use-translation.ts'

/** Only owners may appoint owners. */
export function rolesFor(isOwner: boolean): readonly Role[] {
  return isOwner ? ['member', 'admin', 'owner'] : ['member', 'admin']
}

export function RolesHint() {
  const { t } = useTranslation()
  return <p className={forms.hint}>{t('organisation.rolesHint')}</p>
}
