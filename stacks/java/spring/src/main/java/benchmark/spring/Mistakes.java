package benchmark.spring;

import benchmark.UsageException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalysisReporter;

/** Prints in one line why the server does not start; see META-INF/spring.factories. */
final class Mistakes extends AbstractFailureAnalyzer<UsageException>
    implements FailureAnalysisReporter {
  @Override
  protected FailureAnalysis analyze(Throwable failure, UsageException mistake) {
    return new FailureAnalysis(mistake.getMessage(), null, mistake);
  }

  @Override
  public void report(FailureAnalysis analysis) {
    System.err.println(analysis.getDescription().strip().replaceAll("\\s+", " "));
  }
}
