/** Guides: how things are done well here, in the person's language or another. */
import { useState } from 'react';

import { Markdown } from '../frame/markdown';
import { Notice } from '../frame/notice';
import { Guides, type GuidesQuery } from '../operations/generated';
import { isLanguage, languageNames } from '../strings';
import { useQuery, useRoom, useStudio } from '../studio';

type Guide = NonNullable<GuidesQuery['workspace']>['guides'][number];

export function GuidesPage() {
  const { say, language } = useStudio();
  const { workspaceId } = useRoom();
  const { data, error, refresh } = useQuery(Guides, { id: workspaceId });
  const [chosen, setChosen] = useState<string>(language);
  const [name, setName] = useState<string | null>(null);
  const guides = data?.workspace?.guides;
  if (!guides) return <Notice error={error} retry={refresh} />;
  const languages = [...new Set(guides.map((guide) => guide.language))];
  const shown = inLanguage(guides, languages.includes(chosen) ? chosen : 'en');
  const open = shown.find((guide) => guide.name === name) ?? shown[0];
  return (
    <>
      <p className="quiet lead">{say('guidesLead')}</p>
      {!open && <p className="empty">{say('noGuides')}</p>}
      {open && (
        <div className="guides">
          <div className="stack">
            <label className="filter">
              {say('language')}
              <select value={open.language} onChange={(event) => setChosen(event.target.value)}>
                {languages.map((each) => (
                  <option key={each} value={each}>
                    {isLanguage(each) ? languageNames[each] : each}
                  </option>
                ))}
              </select>
            </label>
            <ul className="guide-list">
              {shown.map((guide) => (
                <li key={guide.name}>
                  <button type="button" className="plain" aria-pressed={guide.name === open.name} onClick={() => setName(guide.name)}>
                    {guide.title}
                  </button>
                </li>
              ))}
            </ul>
          </div>
          <article className="guide" lang={open.language} aria-label={open.title}>
            <Markdown text={open.markdown} />
          </article>
        </div>
      )}
    </>
  );
}

/** Each guide once: in this language, or in whatever there is. */
export function inLanguage(guides: readonly Guide[], language: string): Guide[] {
  const names = [...new Set(guides.map(({ name }) => name))];
  return names.flatMap((name) => {
    const all = guides.filter((guide) => guide.name === name);
    return all.find((guide) => guide.language === language) ?? all[0] ?? [];
  });
}
