package course

// List is the course's table of contents, in the form of `lab list --json`.
type List struct {
	Version  int     `json:"version"`
	Chapters []Entry `json:"chapters"`
}

// Entry is a chapter in it.
type Entry struct {
	Number         int      `json:"number"`
	Chapter        string   `json:"chapter"`
	Title          string   `json:"title"`
	Minutes        int      `json:"minutes"`
	StretchMinutes int      `json:"stretch_minutes"`
	Checks         int      `json:"checks"`  // required ones
	Stretch        int      `json:"stretch"` // further ones
	Points         int      `json:"points"`  // of the required ones
	Files          []string `json:"files"`
	Lesson         string   `json:"lesson"`
}

// List reads every chapter's entry, in order.
func (c *Course) List() (*List, error) {
	chapters, err := c.Chapters()
	if err != nil {
		return nil, err
	}
	list := &List{Version: 1, Chapters: []Entry{}}
	for _, ch := range chapters {
		e := Entry{
			Number: ch.Number, Chapter: ch.ID, Title: ch.Title, Minutes: ch.Minutes, StretchMinutes: ch.StretchMinutes,
			Lesson: c.Rel(ch.Lesson()),
		}
		for _, f := range ch.Files {
			e.Files = append(e.Files, "chapters/"+ch.ID+"/"+f)
		}
		for _, k := range ch.Checks {
			if k.Stretch {
				e.Stretch++
				continue
			}
			e.Checks++
			e.Points += k.Points
		}
		list.Chapters = append(list.Chapters, e)
	}
	return list, nil
}
