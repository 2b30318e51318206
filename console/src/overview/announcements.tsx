import { useQuery } from '@tanstack/react-query'
import { Icon } from '../parts/marks/icon.tsx'
import page from '../parts/page/page.module.css'
import { useFormat } from '../parts/values/format.ts'
import styles from './overview.module.css'
import { announcementsQuery } from './queries.ts'
import { useTranslation } from '../texts/use-translation.ts'

/** Announcements of the operator; renders nothing if there are none. */
export function Announcements() {
  const { t } = useTranslation()
  const format = useFormat()
  const { data: news = [] } = useQuery(announcementsQuery)
  if (news.length === 0) return null
  return (
    <section className={page.section}>
      <div className={page.sectionHead}>
        <h2>{t('overview.announcements')}</h2>
      </div>
      <ul className={styles.news}>
        {news.map(({ id, title, body, level, starts_at }) => (
          <li key={id}>
            <div className={styles.newsTitle} data-level={level}>
              {level !== 'info' && <Icon name="warning" />}
              <span>{title}</span>
            </div>
            <p>
              {body} · {format.day(starts_at)}
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}
