package testbed

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics are the metrics of a process at one moment, by name.
type Metrics map[string]*dto.MetricFamily

// Scrape reads the process's metrics as Prometheus does, from /metrics at
// {address:metrics}, in the text format.
func (p *Process) Scrape(ctx context.Context) (Metrics, error) {
	status, body, err := p.Get(ctx, "metrics", "/metrics")
	if err != nil {
		return nil, fmt.Errorf("scrape process %s: %w", p.name, err)
	}
	if status != http.StatusOK {
		line, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
		return nil, fmt.Errorf("scrape process %s: status %d: %s", p.name, status, line)
	}
	m, err := ParseMetrics(body)
	if err != nil {
		return nil, fmt.Errorf("scrape process %s: %w", p.name, err)
	}
	return m, nil
}

// ParseMetrics reads Prometheus' text format.
func ParseMetrics(text string) (Metrics, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	m, err := parser.TextToMetricFamilies(strings.NewReader(text))
	return m, err
}

// Value adds up the series of a metric that have these labels, given in pairs:
//
//	m.Value("controller_runtime_reconcile_total", "controller", "webapp", "result", "error")
//
// Of a histogram or a summary it is the number of observations. It reports false
// if there is no such series.
func (m Metrics) Value(name string, labels ...string) (sum float64, ok bool) {
	if len(labels)%2 != 0 {
		panic("testbed: Value wants labels in pairs, name and value")
	}
	for _, series := range m[name].GetMetric() {
		if !hasLabels(series, labels) {
			continue
		}
		ok = true
		switch {
		case series.Counter != nil:
			sum += series.GetCounter().GetValue()
		case series.Gauge != nil:
			sum += series.GetGauge().GetValue()
		case series.Untyped != nil:
			sum += series.GetUntyped().GetValue()
		case series.Histogram != nil:
			sum += float64(series.GetHistogram().GetSampleCount())
		case series.Summary != nil:
			sum += float64(series.GetSummary().GetSampleCount())
		}
	}
	return sum, ok
}

func hasLabels(series *dto.Metric, want []string) bool {
	for i := 0; i < len(want); i += 2 {
		found := false
		for _, have := range series.GetLabel() {
			found = found || have.GetName() == want[i] && have.GetValue() == want[i+1]
		}
		if !found {
			return false
		}
	}
	return true
}
