import { useTranslation } from 'react-i18next'
import type { Role } from '../api/organisations.ts'
import forms from '../parts/forms/form.module.css'

/** Only owners may appoint owners. */
export function rolesFor(isOwner: boolean): readonly Role[] {
  return isOwner ? ['member', 'admin', 'owner'] : ['member', 'admin']
}

export function RolesHint() {
  const { t } = useTranslation()
  return <p className={forms.hint}>{t('organisation.rolesHint')}</p>
}
